// The small files of /proc/PID: pure parsers, and ProcDir, which reads them through one descriptor,
// so that all answers are about the same process even if its id is reused meanwhile. Parsers take
// any text (a process chooses its own name). ProcDir owns its descriptor; not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/process/proc_maps.h"
#include "base/file.h"
#include "base/result.h"

namespace vesta::agent {

struct ProcStat {
  std::string_view comm;
  char state = '?';
  uint32_t parent = 0;
  uint32_t threads = 0;
  uint64_t start_ticks = 0;  // since boot; tells two processes of the same id apart
  bool is_kernel_thread = false;
};
std::optional<ProcStat> parse_proc_stat(std::string_view text);

struct ProcStatus {
  uint32_t uid = 0;     // effective
  uint32_t ns_pid = 0;  // in its own, innermost pid namespace; 0 when the kernel does not say
};
ProcStatus parse_proc_status(std::string_view text);

// Reads a file that has no true size (proc, sysfs), at most `max_bytes` of it.
Result<std::string> read_small_file(int dir_fd, const char* name, size_t max_bytes);

// Process ids in a /proc, youngest (highest) first.
std::vector<uint32_t> list_processes(const std::string& proc_root);

// When the process began, in ticks since boot; nothing when there is none, or only what its parent
// has not collected yet.
std::optional<uint64_t> running_since(const std::string& proc_root, uint32_t pid);

class ProcDir {
 public:
  // kNotFound when there is no such process.
  static Result<ProcDir> open(const std::string& proc_root, uint32_t pid);

  int fd() const { return fd_.get(); }
  Result<std::string> read(const char* name, size_t max_bytes = 64 * 1024) const;
  Result<std::string> read_link(const char* name) const;
  // Feeds all of `maps` to the callback. kNotFound when the process has gone; what was read until
  // then has been handed out. Returns the number of lines, 0 for kernel threads and zombies. Stops
  // after about `max_bytes` of text.
  Result<uint64_t> read_maps(const std::function<void(const ProcMapping&)>& callback,
                             uint64_t max_bytes = UINT64_MAX) const;
  // Thread ids, at most `max`.
  std::vector<uint32_t> threads(size_t max = 65536) const;

 private:
  explicit ProcDir(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace vesta::agent
