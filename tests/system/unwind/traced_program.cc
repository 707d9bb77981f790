#include "traced_program.h"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

namespace vesta::agent {
namespace {

using namespace std::chrono_literals;

constexpr auto kLookAgain = 50us;

// Which PTRACE_EVENT_* a stop is; 0 for a signal.
int stop_event(int status) {
  return status >> 16;
}

[[noreturn]] void become(const std::vector<char*>& argv, int gate) {
  char byte = 0;
  (void)!::read(gate, &byte, 1);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, fd);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

}  // namespace

std::unique_ptr<TracedProgram> TracedProgram::start(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::array<int, 2> gate{};
  if (::pipe2(gate.data(), O_CLOEXEC) != 0) return nullptr;
  std::unique_ptr<TracedProgram> program(new TracedProgram());
  program->pid_ = ::fork();
  if (program->pid_ == 0) become(argv, gate[0]);
  // Seized, not attached: new threads then begin with an event, which no SIGSTOP can be taken for.
  const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
  const bool is_seized =
      program->pid_ > 0 && ::ptrace(PTRACE_SEIZE, program->pid_, nullptr, options) == 0;
  (void)!::write(gate[1], "g", 1);
  ::close(gate[0]);
  ::close(gate[1]);
  return is_seized && program->wait_for_exec() ? std::move(program) : nullptr;
}

TracedProgram::~TracedProgram() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (::waitpid(-1, &status, __WALL) > 0) {
  }
}

bool TracedProgram::wait_for_exec() {
  int status = 0;
  while (::waitpid(pid_, &status, __WALL) == pid_ && WIFSTOPPED(status)) {
    if (stop_event(status) == PTRACE_EVENT_EXEC) {
      stopped_ = pid_;
      return true;
    }
    ::ptrace(PTRACE_CONT, pid_, nullptr, nullptr);
  }
  pid_ = -1;
  return false;
}

TracedProgram::Wait TracedProgram::wait_for_stop(std::chrono::steady_clock::time_point deadline) {
  while (true) {
    int status = 0;
    const pid_t thread = ::waitpid(-1, &status, __WALL | WNOHANG);
    if (thread < 0) return Wait::kEnded;
    if (thread == 0) {
      if (std::chrono::steady_clock::now() >= deadline) return Wait::kTimeout;
      std::this_thread::sleep_for(kLookAgain);
      continue;
    }
    if (!WIFSTOPPED(status)) return thread == pid_ ? Wait::kEnded : Wait::kThreadEnded;
    if (stop_event(status) == 0 && WSTOPSIG(status) == SIGSTOP) {
      stopped_ = thread;
      return Wait::kStopped;
    }
    const long signal = stop_event(status) == 0 ? WSTOPSIG(status) : 0;
    ::ptrace(PTRACE_CONT, thread, nullptr, signal);
  }
}

user_regs_struct TracedProgram::registers() const {
  user_regs_struct registers{};
  ::ptrace(PTRACE_GETREGS, stopped_, nullptr, &registers);
  return registers;
}

void TracedProgram::resume() {
  if (stopped_ > 0) ::ptrace(PTRACE_CONT, stopped_, nullptr, nullptr);
  stopped_ = -1;
}

}  // namespace vesta::agent
