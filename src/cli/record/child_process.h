// A command that is started to be profiled: forked, but held back before its first instruction
// until run() lets it go. Under sudo it runs as the user who typed sudo. Ends nobody: a child that
// outlives this goes on by itself. One owner thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace vesta::cli {

class ChildProcess {
 public:
  // REQUIRES: no other threads yet (it forks), words not empty.
  static Result<ChildProcess> prepare(const std::vector<std::string>& words);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  // Ends a child that was never let go.
  ~ChildProcess();

  pid_t pid() const { return pid_; }

  // Lets it go. kNotFound or kPermission when the command cannot be run.
  Status run();
  // The wait status once it has ended; nothing while it runs.
  std::optional<int> poll();

 private:
  ChildProcess(pid_t pid, std::string name, UniqueFd release, UniqueFd failure);

  pid_t pid_;
  std::string name_;
  UniqueFd release_;  // a byte written here starts it
  UniqueFd failure_;  // errno of a failed exec comes from here; end of file means that it runs
  std::optional<int> status_;
};

// "exited with code 3", "was ended by signal 11 (Segmentation fault)"; empty when all went well.
std::string describe_wait_status(int status);

}  // namespace vesta::cli
