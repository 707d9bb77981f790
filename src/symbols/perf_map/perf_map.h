// Names of code that a process makes at run time, from the file /tmp/perf-PID.map that JIT
// compilers write for profilers. The file belongs to the process and is not to be trusted. Owns
// what it has read. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "symbols/perf_map/jit_ranges.h"

namespace vesta {

class PerfMap {
 public:
  struct Limits {
    uint64_t max_file_bytes = 256ULL << 20;
    size_t max_ranges = 1'000'000;
    size_t max_name_bytes = 32ULL << 20;
  };

  // `pid` as the process itself knows it (the last number of NSpid in /proc/PID/status); `owner` is
  // its user. The file must belong to that user or to root.
  PerfMap(pid_t pid, uid_t owner, const Limits& limits = default_limits());
  static const Limits& default_limits();

  // Reads what the file has more than last time, or all of it when it was replaced or cut. The
  // path is taken inside `root`, an open folder such as /proc/PID/root. True when names changed.
  // kNotFound when there is no file, kPermission or kInvalidInput when it is one that must not be
  // read, kLimit when it is too large; in all these cases the names read before stay.
  Result<bool> refresh(int root);

  std::optional<std::string_view> lookup(uint64_t address) const { return ranges_.lookup(address); }

  const std::string& path() const { return path_; }
  const JitRanges& ranges() const { return ranges_; }

 private:
  Result<UniqueFd> open_file(int root) const;
  Result<bool> read_more(int fd, uint64_t size);

  Limits limits_;
  uid_t owner_;
  std::string path_;  // inside the root, without a leading slash
  JitRanges ranges_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  uint64_t offset_ = 0;  // after the last complete line that was read
};

}  // namespace vesta
