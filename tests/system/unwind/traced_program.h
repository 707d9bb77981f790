// A program that is run under ptrace, so that the signal of the oracle's kernel program stops it
// where it was sampled, and its registers can be read there. Killed on destruction. To be used by
// the thread that started it. Test code only.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace vesta::agent {

class TracedProgram {
 public:
  // Null when it cannot be started. Stands still at its first instruction, until resume().
  static std::unique_ptr<TracedProgram> start(std::vector<std::string> arguments);
  ~TracedProgram();
  TracedProgram(const TracedProgram&) = delete;
  TracedProgram& operator=(const TracedProgram&) = delete;

  uint32_t pid() const { return static_cast<uint32_t>(pid_); }

  enum class Wait { kStopped, kThreadEnded, kEnded, kTimeout };
  // Until a thread is stopped by SIGSTOP, which is then stopped_thread(). All other signals reach
  // the program as ever.
  Wait wait_for_stop(std::chrono::steady_clock::time_point deadline);
  pid_t stopped_thread() const { return stopped_; }
  user_regs_struct registers() const;
  // The stopped thread goes on, as if nothing had been.
  void resume();

 private:
  TracedProgram() = default;
  bool wait_for_exec();

  pid_t pid_ = -1;
  pid_t stopped_ = -1;
};

}  // namespace vesta::agent
