#include "agent/hardening/reduce_privileges.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <thread>

#include "base/test_requirements.h"

namespace vesta::agent {
namespace {

// Runs `work` in a child process, since nothing of this can be undone. Its text comes back; empty =
// all is well.
std::string in_a_child(const std::function<std::string()>& work) {
  int fds[2];
  if (::pipe(fds) != 0) return "no pipe";
  const pid_t pid = ::fork();
  if (pid == 0) {
    const std::string text = work();
    (void)!::write(fds[1], text.data(), text.size());
    ::_exit(0);
  }
  ::close(fds[1]);
  std::string text;
  char part[512];
  ssize_t bytes = 0;
  while ((bytes = ::read(fds[0], part, sizeof(part))) > 0)
    text.append(part, static_cast<size_t>(bytes));
  ::close(fds[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (!WIFEXITED(status)) text += " [child died]";
  return text;
}

// Each is what an agent does while it runs, and needs one capability for. Returns 0 or the errno.
int create_map() {
  const int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "test", 4, 8, 1, nullptr);
  if (fd < 0) return errno;
  ::close(fd);
  return 0;
}

int open_clock() {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = 10'000'000;
  attr.disabled = 1;
  const long fd = ::syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) return errno;
  ::close(static_cast<int>(fd));
  return 0;
}

int open_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  ::close(fd);
  return 0;
}

// The parent is root with all capabilities. Its mappings would do on kernels before 6.14, which
// show them to CAP_PERFMON too.
int open_binary_of_parent() {
  return open_file("/proc/" + std::to_string(::getppid()) + "/exe");
}

int open_mapped_file() {
  std::ifstream maps("/proc/self/maps");
  std::string range;
  std::string rest;
  while (maps >> range && std::getline(maps, rest)) {
    if (rest.find('/') == std::string::npos) continue;
    const int error = open_file("/proc/self/map_files/" + range);
    if (error != ENOENT) return error;  // the file's text has leading zeros that a name has not
  }
  return ENOENT;
}

int read_kernel_addresses() {
  std::ifstream symbols("/proc/kallsyms");
  std::string address;
  symbols >> address;
  return address.find_first_not_of('0') == std::string::npos ? EPERM : 0;
}

int run_first() {
  return ::setpriority(PRIO_PROCESS, 0, -11) == 0 ? 0 : errno;
}

std::string g_private_file;  // belongs to another user, who alone may read it

struct Need {
  Capability capability;
  std::function<int()> use;
};

std::vector<Need> needs() {
  return {{Capability::kBpf, create_map},
          {Capability::kPerfmon, open_clock},
          {Capability::kSysPtrace, open_binary_of_parent},
          {Capability::kDacReadSearch, [] { return open_file(g_private_file); }},
          {Capability::kCheckpointRestore, open_mapped_file},
          {Capability::kSyslog, read_kernel_addresses},
          {Capability::kSysNice, run_first}};
}

long setting(const char* path) {
  long value = 0;
  std::ifstream(path) >> value;
  return value;
}

// Where a sysctl gives everybody the right, its lack shows nothing.
bool is_free_for_all(Capability capability) {
  const long paranoid = setting("/proc/sys/kernel/perf_event_paranoid");
  switch (capability) {
    case Capability::kBpf:
      return setting("/proc/sys/kernel/unprivileged_bpf_disabled") == 0;
    case Capability::kPerfmon:
      return paranoid < 1;
    case Capability::kSyslog:
      return setting("/proc/sys/kernel/kptr_restrict") == 0 && paranoid <= 1;
    default:
      return false;
  }
}

class ReducePrivilegesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    VESTA_REQUIRE_OR_SKIP(::geteuid() == 0, "needs root, to have something to give up");
    g_private_file = ::testing::TempDir() + "vesta-private-" + std::to_string(::getpid());
    std::ofstream(g_private_file) << "x";
    ASSERT_EQ(::chmod(g_private_file.c_str(), 0600), 0);
    ASSERT_EQ(::chown(g_private_file.c_str(), 65534, 65534), 0);
  }
  void TearDown() override { ::unlink(g_private_file.c_str()); }
};

TEST_F(ReducePrivilegesTest, WhatAnAgentDoesStillWorks) {
  EXPECT_EQ(in_a_child([] {
              std::string problems;
              if (const Status s = reduce_privileges(); !s.ok()) return s.error().message;
              if (const Status s = filter_system_calls(); !s.ok()) return s.error().message;
              for (const Need& need : needs()) {
                if (const int error = need.use(); error != 0)
                  problems +=
                      std::string(name_of(need.capability)) + ": " + errno_text(error) + "; ";
              }
              int runs = 0;
              std::thread([&] { runs = 1; }).join();
              if (runs != 1) problems += "no threads; ";
              if (::kill(::getppid(), 0) != 0) problems += "cannot ask for a process; ";
              static volatile sig_atomic_t raised = 0;
              ::signal(SIGUSR1, [](int) { raised = 1; });
              if (::raise(SIGUSR1) != 0 || raised != 1) problems += "cannot raise; ";
              if (::fcntl(0, F_GETFD) < 0) problems += "cannot ask about a file; ";
              const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
              if (socket < 0) problems += "no sockets; ";
              return problems;
            }),
            "");
}

TEST_F(ReducePrivilegesTest, EachCapabilityThatIsKeptIsNeeded) {
  for (const Need& need : needs()) {
    if (is_free_for_all(need.capability)) continue;
    EXPECT_EQ(in_a_child([&]() -> std::string {
                std::vector<Capability> keep(kAgentCapabilities.begin(), kAgentCapabilities.end());
                std::erase(keep, need.capability);
                if (const Status s = reduce_privileges(keep); !s.ok()) return s.error().message;
                const int error = need.use();
                return error == EPERM || error == EACCES ? ""
                                                         : "works without: " + errno_text(error);
              }),
              "")
        << name_of(need.capability);
  }
  EXPECT_EQ(needs().size(), kAgentCapabilities.size());
}

TEST_F(ReducePrivilegesTest, NothingElseIsLeft) {
  EXPECT_EQ(in_a_child([]() -> std::string {
              if (const Status s = reduce_privileges(); !s.ok()) return s.error().message;
              std::ifstream status("/proc/self/status");
              std::string problems;
              std::string line;
              uint64_t kept = 0;
              for (const Capability c : kAgentCapabilities) kept |= 1ULL << static_cast<int>(c);
              while (std::getline(status, line)) {
                const auto is = [&](std::string_view name, uint64_t value) {
                  if (!line.starts_with(name)) return;
                  if (std::stoull(line.substr(line.find('\t')), nullptr, 16) != value)
                    problems += line + "; ";
                };
                is("CapInh", 0);
                is("CapPrm", kept);
                is("CapEff", kept);
                is("CapBnd", 0);
                is("CapAmb", 0);
                is("NoNewPrivs", 1);
              }
              return problems;
            }),
            "");
}

TEST_F(ReducePrivilegesTest, WhatOnlyAnIntruderWouldDoFailsOnEveryThread) {
  EXPECT_EQ(in_a_child([]() -> std::string {
              std::string problems;
              const auto try_all = [&problems](const char* who) {
                const auto refused = [&](const char* what, long result) {
                  if (result != -1 || errno != EPERM) {
                    problems += std::string(who) + ": " + what + " gives " +
                                std::to_string(result) + " " + errno_text(errno) + "; ";
                  }
                };
                char name[] = "/bin/true";
                char* const words[] = {name, nullptr};
                refused("execve", ::execve(name, words, nullptr));
                refused("ptrace", ::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr));
                refused("mount", ::mount("none", "/tmp", "tmpfs", 0, nullptr));
                refused("setuid", ::syscall(SYS_setuid, 1000));
                refused("unshare", ::unshare(CLONE_NEWUSER));
                refused("module", ::syscall(SYS_init_module, nullptr, 0, ""));
                refused("kill", ::kill(::getppid(), SIGCONT));
                refused("tgkill", ::syscall(SYS_tgkill, ::getppid(), ::getppid(), SIGCONT));
                refused("tkill", ::syscall(SYS_tkill, ::getppid(), SIGCONT));
                siginfo_t note{};
                note.si_code = SI_QUEUE;
                refused("sigqueue", ::syscall(SYS_rt_sigqueueinfo, ::getppid(), SIGCONT, &note));
                refused("tgsigqueue",
                        ::syscall(SYS_rt_tgsigqueueinfo, ::getppid(), ::getppid(), SIGCONT, &note));
                refused("pidfd", ::syscall(SYS_pidfd_send_signal, -1, SIGCONT, nullptr, 0));
                int pipe[2] = {};
                if (::pipe2(pipe, O_CLOEXEC) != 0) problems += "no pipe; ";
                refused("fcntl", ::fcntl(pipe[0], F_SETOWN, ::getppid()));
                refused("signal of a file", ::fcntl(pipe[0], F_SETSIG, SIGKILL));
                int owner = ::getppid();
                refused("ioctl", ::ioctl(pipe[0], FIOSETOWN, &owner));
                refused("clone", ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
                refused("handle", ::syscall(SYS_open_by_handle_at, -1, nullptr, 0));
                refused("io_uring", ::syscall(SYS_io_uring_setup, 1, nullptr));
              };
              std::atomic<bool> go = false;
              std::thread early([&] {  // was there before
                while (!go) std::this_thread::yield();
                try_all("early");
              });
              if (const Status s = reduce_privileges(); !s.ok()) return s.error().message;
              if (const Status s = filter_system_calls(); !s.ok()) return s.error().message;
              go = true;
              early.join();
              try_all("main");
              std::thread([&] { try_all("late"); }).join();
              return problems;
            }),
            "");
}

TEST_F(ReducePrivilegesTest, ThreadsThatWereThereGiveUpTheirsToo) {
  EXPECT_EQ(in_a_child([]() -> std::string {
              std::atomic<bool> go = false;
              std::atomic<int> answer = -1;
              std::thread early([&] {
                while (!go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                answer = ::chown(g_private_file.c_str(), 0, 0) == 0 ? 0 : errno;
              });
              const Status reduced = reduce_privileges();
              go = true;
              early.join();
              if (!reduced.ok()) return reduced.error().message;
              return answer == EPERM ? "" : "it could still give a file away";
            }),
            "");
}

TEST_F(ReducePrivilegesTest, AThreadThatCannotBeReachedIsNamed) {
  EXPECT_THAT(in_a_child([]() -> std::string {
                sigset_t all;
                sigfillset(&all);
                std::atomic<bool> is_deaf = false;
                std::thread deaf([&] {
                  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
                  is_deaf = true;
                  std::this_thread::sleep_for(std::chrono::seconds(60));
                });
                while (!is_deaf) std::this_thread::yield();
                deaf.detach();
                const Status reduced = reduce_privileges();
                return reduced.ok() ? "" : reduced.error().message;
              }),
              ::testing::HasSubstr("did not drop"));
}

}  // namespace
}  // namespace vesta::agent
