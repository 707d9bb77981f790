#include "agent/probes/off_cpu/wait_reason.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include <shared/off_cpu.h>

namespace vesta::agent {
namespace {

using Names = std::vector<std::string_view>;

constexpr uint64_t kRead = 0;
constexpr uint64_t kFutex = 202;
constexpr uint64_t kNoCall = ~0ULL;  // as the kernel saves it

uint64_t sleeping(uint64_t syscall) {
  return vesta_wait_detail(syscall, VESTA_WAIT_INTERRUPTIBLE, 0);
}
uint64_t uninterruptible(uint64_t syscall, bool is_for_io = false) {
  return vesta_wait_detail(syscall, VESTA_WAIT_UNINTERRUPTIBLE, is_for_io ? 1 : 0);
}

// Stacks as Linux 6.18 has them, leaf first.
TEST(WaitReason, FollowsTheFunctionsOfTheKernel) {
  const auto of = [](uint64_t syscall, Names names) {
    return wait_reason(sleeping(syscall), names);
  };
  EXPECT_EQ(of(230, {"__schedule", "schedule", "do_nanosleep", "hrtimer_nanosleep"}), "sleep");
  EXPECT_EQ(of(kRead, {"__schedule", "schedule", "anon_pipe_read", "vfs_read"}), "pipe");
  EXPECT_EQ(of(kRead, {"schedule", "do_wait_intr_irq", "eventfd_read", "vfs_read"}), "event");
  EXPECT_EQ(of(45, {"schedule_timeout", "wait_woken", "sk_wait_data", "tcp_recvmsg_locked"}),
            "network");
  EXPECT_EQ(of(kRead, {"schedule_timeout", "unix_stream_data_wait", "unix_stream_read_generic"}),
            "network");
  EXPECT_EQ(of(288, {"schedule_timeout", "inet_csk_accept", "inet_accept"}), "network");
  EXPECT_EQ(of(232, {"schedule_hrtimeout_range_clock", "ep_poll", "do_epoll_wait"}), "poll");
  EXPECT_EQ(of(7, {"schedule_hrtimeout_range", "poll_schedule_timeout.constprop.0"}), "poll");
  EXPECT_EQ(of(61, {"__schedule", "schedule", "do_wait", "kernel_wait4"}), "child");
  EXPECT_EQ(of(73, {"schedule", "flock_lock_inode_wait", "locks_lock_inode_wait"}), "file lock");
  EXPECT_EQ(of(130, {"schedule", "sigsuspend", "__x64_sys_rt_sigsuspend"}), "signal");
  EXPECT_EQ(of(kRead, {"schedule_timeout", "wait_woken", "n_tty_read", "tty_read"}), "terminal");
  EXPECT_EQ(of(426, {"schedule", "io_cqring_wait", "__do_sys_io_uring_enter"}), "poll");
}

// As they were seen on Linux 6.18 with glibc 2.36 and Rust 1.63: operation, value, timeout.
uint64_t futex(uint64_t operation, uint32_t value, bool has_timeout = false) {
  return sleeping(kFutex) | vesta_futex_detail(operation, value, has_timeout ? 1 : 0);
}
std::string_view reason_of(uint64_t detail, const Names& user = {}) {
  const Names kernel = {"schedule", "futex_do_wait", "__futex_wait", "futex_wait", "do_futex"};
  EXPECT_EQ(wait_reason(detail, Names{"", ""}, user), wait_reason(detail, kernel, user));
  return wait_reason(detail, kernel, user);
}

TEST(WaitReason, LocksAreKnownByWhatTheyAskOfTheKernel) {
  EXPECT_EQ(reason_of(futex(0x80, 2)), "lock") << "pthread mutex";
  EXPECT_EQ(reason_of(futex(0x86, 0)), "lock") << "with priority inheritance";
  EXPECT_EQ(reason_of(futex(0x8d, 0, true)), "lock") << "with a timeout";
  EXPECT_EQ(
      wait_reason(futex(0x86, 0), Names{"schedule", "__rt_mutex_slowlock",
                                        "rt_mutex_wait_proxy_lock", "futex_lock_pi", "do_futex"}),
      "lock");
  EXPECT_EQ(reason_of(futex(0x00, 0x80000000U | 4711)), "lock") << "robust";
  EXPECT_EQ(reason_of(futex(0x89, 2)), "lock") << "Rust";
  // Taken again by whoever waited for a condition.
  EXPECT_EQ(reason_of(futex(0x80, 2), {"", "", "pthread_cond_wait"}), "lock");
}

TEST(WaitReason, WhatWaitsForAnEventWaitsForNoLock) {
  EXPECT_EQ(reason_of(futex(0x189, 7)), "condition");
  EXPECT_EQ(reason_of(futex(0x109, 4711)), "condition") << "a thread that is joined";
  EXPECT_EQ(reason_of(futex(0x89, ~0U)), "condition") << "a parked thread";
  EXPECT_EQ(reason_of(futex(0x80, 0)), "condition") << "an idle thread of Go";
  EXPECT_EQ(reason_of(futex(0x00, 2, true)), "condition") << "for a while only";
  EXPECT_EQ(reason_of(sleeping(449)), "condition") << "of several, futex_waitv";
}

TEST(WaitReason, WhereTheCallCannotTellTheInnermostFunctionWithANameDoes) {
  const auto of = [](Names user) { return reason_of(futex(0x189, 3), user); };
  EXPECT_EQ(of({"__futex_abstimed_wait_common", "pthread_rwlock_wrlock", "main"}), "lock");
  EXPECT_EQ(of({"", "___pthread_rwlock_rdlock", "main"}), "lock");
  EXPECT_EQ(of({"__futex_abstimed_wait_common", "pthread_mutex_clocklock"}), "lock");
  EXPECT_EQ(of({"", "___pthread_cond_wait", "pthread_mutex_lock_all_my_things"}), "condition");
  EXPECT_EQ(of({"", "__new_sem_wait_slow64.constprop.0", "main"}), "condition");
  EXPECT_EQ(of({"syscall", "std::sys::unix::locks::futex_rwlock::RwLock::write_contended"}),
            "lock");
  EXPECT_EQ(of({"syscall", "std::sync::condvar::Condvar::wait"}), "condition");
  EXPECT_EQ(of({"", "pthread_barrier_wait"}), "condition");
  // But not one far above: it called who waits.
  Names deep(20, "f");
  deep.back() = "pthread_mutex_lock";
  EXPECT_EQ(of(deep), "condition");
}

TEST(WaitReason, ReadingAFileIsDiskUnlessAPageFaultDoesIt) {
  const Names read = {"io_schedule", "folio_wait_bit_common", "filemap_read", "vfs_read"};
  EXPECT_EQ(wait_reason(uninterruptible(kRead, true), read), "disk");
  const Names fault = {"io_schedule",     "folio_wait_bit_common", "filemap_fault",
                       "handle_mm_fault", "do_user_addr_fault",    "asm_exc_page_fault"};
  EXPECT_EQ(wait_reason(uninterruptible(kNoCall, true), fault), "page fault");
  EXPECT_EQ(wait_reason(uninterruptible(kRead, true), fault), "page fault");
  const Names sync = {"schedule", "jbd2_log_wait_commit", "ext4_sync_file", "__x64_sys_fsync"};
  EXPECT_EQ(wait_reason(sleeping(74), sync), "disk");
}

TEST(WaitReason, ALockOfTheKernelIsOneWhereverItIsTaken) {
  const Names names = {"schedule", "rwsem_down_read_slowpath", "down_read", "do_user_addr_fault",
                       "asm_exc_page_fault"};
  EXPECT_EQ(wait_reason(uninterruptible(kNoCall), names), "kernel lock");
}

TEST(WaitReason, StateComesBeforeFunctions) {
  const Names names = {"schedule", "do_nanosleep", "hrtimer_nanosleep"};
  EXPECT_EQ(wait_reason(vesta_wait_detail(230, VESTA_WAIT_RUN_QUEUE, 0), names), "run queue");
  EXPECT_EQ(wait_reason(vesta_wait_detail(230, VESTA_WAIT_STOPPED, 0), names), "stopped");
}

TEST(WaitReason, SuffixesOfCompilersDoNotMatter) {
  EXPECT_EQ(wait_reason(sleeping(61), Names{"schedule", "do_wait.part.0"}), "child");
  // But the name itself does: this one only begins like it.
  EXPECT_EQ(wait_reason(sleeping(kRead), Names{"schedule", "do_wait_something"}), "other");
}

TEST(WaitReason, WithoutNamesTheSystemCallDecides) {
  const Names none = {"", ""};
  EXPECT_EQ(wait_reason(futex(0x80, 2), none), "lock");
  EXPECT_EQ(wait_reason(sleeping(230), {}), "sleep");
  EXPECT_EQ(wait_reason(sleeping(61), none), "child");
  EXPECT_EQ(wait_reason(sleeping(74), none), "disk");
  EXPECT_EQ(wait_reason(sleeping(kRead), none), "other") << "may be anything";
  EXPECT_EQ(wait_reason(uninterruptible(kRead, true), none), "disk");
  EXPECT_EQ(wait_reason(uninterruptible(kNoCall), none), "page fault");
  EXPECT_EQ(wait_reason(uninterruptible(kNoCall), Names{"schedule", "something_new"}), "other");
}

}  // namespace
}  // namespace vesta::agent
