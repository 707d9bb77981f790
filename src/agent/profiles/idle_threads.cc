#include "agent/profiles/idle_threads.h"

#include <algorithm>
#include <array>

namespace vesta::agent {
namespace {

constexpr std::array<std::string_view, 3> kWorkCauses = {"poll", "event", "signal"};
// In the kernel, and in libc where the kernel's functions have no names.
constexpr std::array<std::string_view, 6> kAccepting = {
    "inet_csk_accept", "inet_accept", "unix_accept", "__sys_accept4", "accept", "accept4"};
constexpr std::array<std::string_view, 9> kParking = {"pthread_cond_wait",
                                                      "pthread_cond_timedwait",
                                                      "pthread_cond_clockwait",
                                                      "sem_wait",
                                                      "sem_timedwait",
                                                      "cnd_wait",
                                                      "runtime.futexsleep",
                                                      "Unsafe_Park",
                                                      "uv_cond_wait"};
constexpr std::array<std::string_view, 5> kLocking = {
    "pthread_mutex_lock", "pthread_mutex_timedlock", "lll_lock_wait", "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock"};

// The wait is more than this part of all that the thread waited.
constexpr double kMostOfWaiting = 0.8;
// How far below what all its stacks have in common the loop of a thread may wait: the loop, a
// wrapper, and the function of libc.
constexpr size_t kLoopDepth = 3;
constexpr size_t kPoolThreads = 3;
constexpr double kParkedRunning = 0.01;  // of its wait, at most

// "___pthread_cond_wait@@GLIBC_2.3.2" and "__pthread_cond_wait" are pthread_cond_wait.
bool is_any_of(std::string_view function, std::span<const std::string_view> names) {
  function.remove_prefix(std::min(function.find_first_not_of('_'), function.size()));
  function = function.substr(0, function.find('@'));
  return std::ranges::any_of(names, [&](std::string_view name) {
    name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
    return function == name;
  });
}

bool names_any(std::span<const std::string_view> functions,
               std::span<const std::string_view> names) {
  return std::ranges::any_of(functions,
                             [&](std::string_view function) { return is_any_of(function, names); });
}

}  // namespace

WaitPurpose wait_purpose(std::string_view cause, std::span<const std::string_view> functions) {
  if (std::ranges::find(kWorkCauses, cause) != kWorkCauses.end()) return WaitPurpose::kWork;
  if (cause == "network" && names_any(functions, kAccepting)) return WaitPurpose::kWork;
  const bool is_parked = cause != "run queue" && cause != "page fault" &&
                         names_any(functions, kParking) && !names_any(functions, kLocking);
  return is_parked ? WaitPurpose::kSignal : WaitPurpose::kOther;
}

uint32_t IdleThreads::thread(uint32_t process, uint32_t tid) {
  const auto [at, is_new] = numbers_.try_emplace(uint64_t{process} << 32 | tid, 0);
  if (is_new) {
    threads_.push_back({process, tid, 0, 0, {}, std::nullopt});
    at->second = static_cast<uint32_t>(threads_.size());
  }
  return at->second;
}

void IdleThreads::note_functions(Thread& thread, std::span<const StringId> functions) {
  if (functions.empty()) return;
  if (!thread.common) {
    thread.common.emplace(functions.rbegin(), functions.rend());
    return;
  }
  std::vector<StringId>& common = *thread.common;
  const size_t most = std::min(common.size(), functions.size());
  size_t same = 0;
  while (same < most && common[same] == functions[functions.size() - 1 - same]) ++same;
  common.resize(same);
}

void IdleThreads::add_running(uint32_t thread, uint64_t ns, std::span<const StringId> functions) {
  Thread& entry = threads_[thread - 1];
  entry.running_ns += ns;
  note_functions(entry, functions);
}

void IdleThreads::add_wait(uint32_t thread, uint64_t ns, StackId stack, WaitPurpose purpose,
                           std::span<const StringId> functions) {
  Thread& entry = threads_[thread - 1];
  entry.waiting_ns += ns;
  Wait& wait = entry.waits[stack];
  wait.ns += ns;
  wait.purpose = purpose;
  wait.depth = functions.empty() ? wait.depth : static_cast<uint32_t>(functions.size());
  note_functions(entry, functions);
}

std::vector<uint32_t> IdleThreads::add(const IdleThreads& other) {
  std::vector<uint32_t> numbers = {0};
  for (const Thread& from : other.threads_) {
    numbers.push_back(thread(from.process, from.tid));
    Thread& into = threads_[numbers.back() - 1];
    into.running_ns += from.running_ns;
    into.waiting_ns += from.waiting_ns;
    for (const auto& [stack, wait] : from.waits) {
      Wait& sum = into.waits[stack];
      sum = {sum.ns + wait.ns, wait.purpose, wait.depth};
    }
    if (!from.common) continue;
    const std::vector<StringId> leaf_first(from.common->rbegin(), from.common->rend());
    note_functions(into, leaf_first);
  }
  return numbers;
}

const std::pair<const StackId, IdleThreads::Wait>* IdleThreads::main_wait(const Thread& thread) {
  for (const auto& entry : thread.waits) {
    if (static_cast<double>(entry.second.ns) >
        kMostOfWaiting * static_cast<double>(thread.waiting_ns))
      return &entry;
  }
  return nullptr;
}

std::vector<StackId> IdleThreads::decide() const {
  std::vector<StackId> idle(threads_.size() + 1);
  std::map<std::pair<uint32_t, StackId>, std::vector<size_t>> parked;  // by process and stack
  for (size_t i = 0; i < threads_.size(); ++i) {
    const Thread& thread = threads_[i];
    const auto* const main = main_wait(thread);
    if (main == nullptr) continue;
    const auto& [stack, wait] = *main;
    if (wait.purpose == WaitPurpose::kWork) {
      const size_t common = thread.common ? thread.common->size() : 0;
      if (wait.depth <= common + kLoopDepth) idle[i + 1] = stack;
    } else if (wait.purpose == WaitPurpose::kSignal) {
      const bool is_parked =
          static_cast<double>(thread.running_ns) < kParkedRunning * static_cast<double>(wait.ns);
      if (is_parked) parked[{thread.process, stack}].push_back(i + 1);
    }
  }
  for (const auto& [place, threads] : parked) {
    if (threads.size() < kPoolThreads) continue;
    for (const size_t thread : threads) idle[thread] = place.second;
  }
  return idle;
}

}  // namespace vesta::agent
