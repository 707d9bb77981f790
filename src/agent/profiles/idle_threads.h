// Which waits are those of threads that have nothing to do: workers of a pool between two tasks, a
// loop that waits for events. Decided for a window or a recording as a whole, by the rules in
// README.md beside this file. Plain data; one owner thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/ids.h"

namespace vesta::agent {

// What a wait is for, as far as idleness goes.
enum class WaitPurpose : uint8_t {
  kOther,   // never idle: I/O, a mutex, time
  kWork,    // events, connections, signals: idle where the thread's own loop waits
  kSignal,  // of another thread: idle if it is how a pool parks its workers
};
// `cause` is that of ProbeKind::cause_of; functions are leaf first.
WaitPurpose wait_purpose(std::string_view cause, std::span<const std::string_view> functions);

class IdleThreads {
 public:
  // Numbers count up from 1.
  uint32_t thread(uint32_t process, uint32_t tid);

  // Functions are numbered by their names, outermost last; none where the stack is not complete.
  void add_running(uint32_t thread, uint64_t ns, std::span<const StringId> functions);
  void add_wait(uint32_t thread, uint64_t ns, StackId stack, WaitPurpose purpose,
                std::span<const StringId> functions);

  // What all of the other's threads are here, by their numbers there; [0] is 0.
  std::vector<uint32_t> add(const IdleThreads& other);

  // The stack in which each thread is idle; none for others. By number.
  std::vector<StackId> decide() const;

 private:
  struct Wait {
    uint64_t ns = 0;
    WaitPurpose purpose = WaitPurpose::kOther;
    uint32_t depth = 0;  // functions
  };
  struct Thread {
    uint32_t process = 0;
    uint32_t tid = 0;
    uint64_t running_ns = 0;
    uint64_t waiting_ns = 0;
    std::map<StackId, Wait> waits;
    // The outermost functions that all its stacks have in common, outermost first.
    std::optional<std::vector<StringId>> common;
  };

  static void note_functions(Thread& thread, std::span<const StringId> functions);
  static const std::pair<const StackId, Wait>* main_wait(const Thread& thread);

  std::vector<Thread> threads_;  // number 1 is the first
  std::unordered_map<uint64_t, uint32_t> numbers_;
};

}  // namespace vesta::agent
