#include "agent/profiles/idle_threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vesta::agent {
namespace {

using ::testing::ElementsAre;
using Names = std::vector<std::string_view>;

constexpr uint64_t kSecondNs = 1'000'000'000;
const StackId kParked(1);
const StackId kOtherStack(2);
const StackId kNone;

// Functions by number, leaf first.
std::vector<StringId> functions(std::initializer_list<size_t> numbers) {
  std::vector<StringId> out;
  for (const size_t number : numbers) out.emplace_back(number);
  return out;
}

TEST(WaitPurpose, EventsAndConnectionsAreWork) {
  EXPECT_EQ(wait_purpose("poll", {}), WaitPurpose::kWork);
  EXPECT_EQ(wait_purpose("event", {}), WaitPurpose::kWork);
  EXPECT_EQ(wait_purpose("signal", {}), WaitPurpose::kWork);
  EXPECT_EQ(wait_purpose("network", Names{"inet_csk_accept", "main"}), WaitPurpose::kWork);
  EXPECT_EQ(wait_purpose("network", Names{"tcp_recvmsg", "main"}), WaitPurpose::kOther);
}

TEST(WaitPurpose, AConditionVariableIsNoLock) {
  const Names parked = {"[lock]", "futex_wait", "__futex_abstimed_wait_common64",
                        "___pthread_cond_wait@@GLIBC_2.3.2", "worker"};
  EXPECT_EQ(wait_purpose("lock", parked), WaitPurpose::kSignal);
  EXPECT_EQ(wait_purpose("run queue", parked), WaitPurpose::kOther);
  EXPECT_EQ(wait_purpose("lock", Names{"__lll_lock_wait", "___pthread_mutex_lock", "worker"}),
            WaitPurpose::kOther);
  // It gets the mutex back before it returns, and may have to wait for that.
  EXPECT_EQ(wait_purpose("lock", Names{"__GI___lll_lock_wait", "__lll_lock_wait",
                                       "pthread_cond_wait", "worker"}),
            WaitPurpose::kOther);
  for (const char* cause : {"disk", "sleep", "pipe", "network", "child", "page fault", "other"})
    EXPECT_EQ(wait_purpose(cause, {}), WaitPurpose::kOther) << cause;
}

// Threads of one process, in the same condition variable.
IdleThreads pool(size_t threads, uint64_t running_ns = 0, uint64_t other_ns = 0) {
  IdleThreads idle;
  for (uint32_t tid = 1; tid <= threads; ++tid) {
    const uint32_t thread = idle.thread(7, tid);
    idle.add_wait(thread, kSecondNs, kParked, WaitPurpose::kSignal, functions({4, 3, 2, 1}));
    if (other_ns != 0)
      idle.add_wait(thread, other_ns, kOtherStack, WaitPurpose::kOther, functions({5, 2, 1}));
    if (running_ns != 0) idle.add_running(thread, running_ns, functions({6, 2, 1}));
  }
  return idle;
}

TEST(IdleThreads, ThreeThreadsThatParkAlikeAreAPool) {
  EXPECT_THAT(pool(3).decide(), ElementsAre(kNone, kParked, kParked, kParked));
  EXPECT_THAT(pool(2).decide(), ElementsAre(kNone, kNone, kNone));
}

TEST(IdleThreads, WorkersWithWorkAreNotIdle) {
  EXPECT_THAT(pool(3, kSecondNs / 50).decide(), ElementsAre(kNone, kNone, kNone, kNone));
  EXPECT_THAT(pool(3, kSecondNs / 200).decide(), ElementsAre(kNone, kParked, kParked, kParked));
}

TEST(IdleThreads, WhatIsNotMostOfTheWaitingIsNotIdle) {
  EXPECT_THAT(pool(3, 0, kSecondNs / 2).decide(), ElementsAre(kNone, kNone, kNone, kNone));
  EXPECT_THAT(pool(3, 0, kSecondNs / 10).decide(), ElementsAre(kNone, kParked, kParked, kParked));
}

TEST(IdleThreads, ThreadsOfDifferentProcessesAreNoPool) {
  IdleThreads idle;
  for (uint32_t process = 1; process <= 3; ++process) {
    idle.add_wait(idle.thread(process, process), kSecondNs, kParked, WaitPurpose::kSignal,
                  functions({4, 3, 2, 1}));
  }
  EXPECT_THAT(idle.decide(), ElementsAre(kNone, kNone, kNone, kNone));
}

TEST(IdleThreads, ALoopThatWaitsForEventsIsIdleHoweverBusyItIs) {
  IdleThreads idle;
  const uint32_t loop = idle.thread(7, 1);
  idle.add_wait(loop, kSecondNs, kParked, WaitPurpose::kWork, functions({9, 3, 2, 1}));
  idle.add_running(loop, kSecondNs, functions({8, 7, 6, 5, 3, 2, 1}));
  EXPECT_THAT(idle.decide(), ElementsAre(kNone, kParked));
}

TEST(IdleThreads, AnAnswerThatATaskPollsForIsNotIdle) {
  IdleThreads idle;
  const uint32_t worker = idle.thread(7, 1);
  // main, loop, handle, query, wait, poll
  idle.add_wait(worker, 9 * kSecondNs, kParked, WaitPurpose::kWork, functions({9, 6, 5, 4, 2, 1}));
  // main, loop, accept
  idle.add_wait(worker, kSecondNs, kOtherStack, WaitPurpose::kWork, functions({8, 2, 1}));
  EXPECT_THAT(idle.decide(), ElementsAre(kNone, kNone));
}

TEST(IdleThreads, GroupsThatAreAddedUpAreOne) {
  IdleThreads all = pool(2);
  const IdleThreads more = pool(3);
  EXPECT_THAT(all.add(more), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(all.decide(), ElementsAre(kNone, kParked, kParked, kParked));
}

}  // namespace
}  // namespace vesta::agent
