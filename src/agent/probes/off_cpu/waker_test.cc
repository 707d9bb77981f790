#include "agent/probes/off_cpu/waker.h"

#include <gtest/gtest.h>

#include <vector>

namespace vesta::agent {
namespace {

using Names = std::vector<std::string_view>;

// Stacks as Linux 6.18 has them, leaf first.
TEST(WakingInterrupt, AThreadThatWakesAnotherIsNone) {
  EXPECT_EQ(waking_interrupt(Names{"try_to_wake_up", "wake_up_q", "futex_wake", "do_futex",
                                   "__x64_sys_futex", "do_syscall_64"}),
            "");
  EXPECT_EQ(waking_interrupt(Names{"try_to_wake_up", "autoremove_wake_function", "__wake_up_common",
                                   "anon_pipe_write", "vfs_write"}),
            "");
  EXPECT_EQ(waking_interrupt({}), "") << "nothing is known";
  EXPECT_EQ(waking_interrupt(Names{"", ""}), "");
}

TEST(WakingInterrupt, WhoeverWasInterruptedIsNotBlamed) {
  EXPECT_EQ(
      waking_interrupt(Names{"try_to_wake_up", "hrtimer_wakeup", "__hrtimer_run_queues",
                             "hrtimer_interrupt", "__sysvec_apic_timer_interrupt",
                             "sysvec_apic_timer_interrupt", "asm_sysvec_apic_timer_interrupt"}),
      "interrupt: timer");
  EXPECT_EQ(waking_interrupt(Names{"try_to_wake_up", "blk_mq_end_request", "virtblk_done",
                                   "vring_interrupt", "common_interrupt", "asm_common_interrupt"}),
            "interrupt: disk");
  EXPECT_EQ(waking_interrupt(Names{"try_to_wake_up", "sock_def_readable", "tcp_v4_rcv",
                                   "net_rx_action", "handle_softirqs", "run_ksoftirqd"}),
            "interrupt: network");
  EXPECT_EQ(waking_interrupt(Names{"try_to_wake_up", "something", "asm_common_interrupt"}),
            "interrupt");
}

TEST(WakingInterrupt, WhoSendsToALocalSocketWakesTheReceiver) {
  const Names send = {"try_to_wake_up",    "sock_def_readable",    "tcp_v4_rcv",
                      "process_backlog",   "net_rx_action",        "handle_softirqs",
                      "do_softirq.part.0", "__local_bh_enable_ip", "__dev_queue_xmit",
                      "tcp_sendmsg"};
  EXPECT_EQ(waking_interrupt(send), "");
  Names interrupted = send;
  interrupted.push_back("asm_common_interrupt");
  EXPECT_EQ(waking_interrupt(interrupted), "interrupt: network");
}

}  // namespace
}  // namespace vesta::agent
