#include "agent/hardening/reduce_privileges.h"

#include <dirent.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace vesta::agent {
namespace {

constexpr std::chrono::seconds kMaxWait{5};
constexpr int kMaxPasses = 50;

// The kernel knows capabilities by thread, so each thread gives up its own, in a signal handler:
// the only thing that can be made to run on a thread from outside. The handler has no other way to
// know.
std::atomic<uint64_t> kept_bits{0};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// Safe in a signal handler: system calls only. 0 or an errno.
int reduce_this_thread(uint64_t keep) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2]{};
  if (::syscall(SYS_capget, &header, sets) != 0) return errno;
  // While there is still the right to: nothing that is executed later can have more. Without
  // CAP_SETPCAP this fails, and no_new_privs has to do.
  for (unsigned long capability = 0; capability < 64; ++capability)
    ::syscall(SYS_prctl, PR_CAPBSET_DROP, capability, 0, 0, 0);
  ::syscall(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (::syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  for (int i = 0; i < 2; ++i) {
    sets[i].permitted &= static_cast<uint32_t>(keep >> (32 * i));
    sets[i].effective = sets[i].permitted;
    sets[i].inheritable = 0;
  }
  return ::syscall(SYS_capset, &header, sets) == 0 ? 0 : errno;
}

void on_signal(int) {
  const int saved = errno;
  (void)reduce_this_thread(kept_bits.load());
  errno = saved;
}

std::optional<uint64_t> field(std::string_view status, std::string_view name) {
  const size_t at = status.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view text = status.substr(at + name.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  uint64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value, 16).ec != std::errc())
    return std::nullopt;
  return value;
}

enum class ThreadState { kGone, kReduced, kFull };

// By what the kernel says, not by what the thread would.
ThreadState state_of(const std::string& thread, uint64_t keep) {
  std::ifstream in("/proc/self/task/" + thread + "/status");
  const std::string status((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto permitted = field(status, "\nCapPrm:");
  const auto no_new = field(status, "\nNoNewPrivs:");
  if (!permitted || !no_new) return ThreadState::kGone;
  return (*permitted & ~keep) == 0 && *no_new == 1 ? ThreadState::kReduced : ThreadState::kFull;
}

std::vector<std::string> threads() {
  std::vector<std::string> names;
  DIR* const list = ::opendir("/proc/self/task");
  if (list == nullptr) return names;
  while (const dirent* entry = ::readdir(list))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  ::closedir(list);
  return names;
}

Status reduce_other(const std::string& thread, uint64_t keep, int signal) {
  const long id = std::strtol(thread.c_str(), nullptr, 10);
  (void)::syscall(SYS_tgkill, ::getpid(), id, signal);
  const auto deadline = std::chrono::steady_clock::now() + kMaxWait;
  while (state_of(thread, keep) == ThreadState::kFull) {
    if (std::chrono::steady_clock::now() > deadline) {
      return Error{ErrorCode::kIo, fmt::format("thread {} did not drop its privileges", thread),
                   "it blocks signals; drop privileges before it starts"};
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return {};
}

}  // namespace

Status reduce_privileges(std::span<const Capability> keep) {
  uint64_t bits = 0;
  for (const Capability capability : keep) bits |= uint64_t{1} << static_cast<int>(capability);
  kept_bits = bits;
  if (const int error = reduce_this_thread(bits); error != 0)
    return permission_error("drop privileges", error);

  const int signal = SIGRTMIN + 5;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, &before);
  // A thread that was not reached yet may start others: until a pass finds none.
  Status result;
  bool all_reduced = false;
  for (int pass = 0; pass < kMaxPasses && !all_reduced && result.ok(); ++pass) {
    all_reduced = true;
    for (const std::string& thread : threads()) {
      if (state_of(thread, bits) != ThreadState::kFull) continue;
      all_reduced = false;
      result = reduce_other(thread, bits, signal);
      if (!result.ok()) break;
    }
  }
  ::sigaction(signal, &before, nullptr);
  if (result.ok() && !all_reduced)
    return Error{ErrorCode::kIo, "threads start faster than they drop their privileges", ""};
  return result;
}

}  // namespace vesta::agent
