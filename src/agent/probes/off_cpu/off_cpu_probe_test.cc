// The probe on the real kernel. How exact it is, is judged by tests/system/test_off_cpu.py.
#include "agent/probes/off_cpu/off_cpu_probe.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <set>
#include <thread>

#include "base/clock.h"
#include "base/test_requirements.h"

namespace vesta::agent {
namespace {

using namespace std::chrono_literals;

// Sleeps a millisecond, again and again; or for ever.
class Sleeper {
 public:
  explicit Sleeper(bool for_ever = false) : pid_(::fork()) {
    if (pid_ != 0) return;
    while (for_ever) ::pause();
    while (true) ::usleep(1000);
  }
  ~Sleeper() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  uint32_t pid() const { return static_cast<uint32_t>(pid_); }

 private:
  pid_t pid_;
};

class OffCpuProbeTest : public ::testing::Test {
 protected:
  void SetUp() override { VESTA_REQUIRE_OR_SKIP(::geteuid() == 0, "kernel programs need root"); }

  void load(uint32_t ring_bytes = 1U << 20, bool only_targets = true) {
    KernelSessionOptions options;
    options.only_targets = only_targets;
    options.ring_bytes = ring_bytes;
    auto session = KernelSession::load(options);
    ASSERT_TRUE(session.ok()) << session.error().message;
    session_ = std::move(*session);
    auto probe = OffCpuProbe::load(*session_, 0, {});
    ASSERT_TRUE(probe.ok()) << probe.error().message;
    probe_ = std::move(*probe);
  }

  KernelCounters counters() const { return session_->counters(0); }

  std::unique_ptr<KernelSession> session_;
  std::unique_ptr<OffCpuProbe> probe_;
};

TEST_F(OffCpuProbeTest, WaitsOfTargetsComeWithBothStacksAndTheirCall) {
  const Sleeper wanted;
  const Sleeper other;
  load();
  ASSERT_TRUE(session_->add_target(wanted.pid()).ok());
  ASSERT_TRUE(probe_->start().ok());
  size_t seen = 0;
  size_t linked = 0;
  std::set<uint64_t> enders;
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (seen < 20 && std::chrono::steady_clock::now() < deadline) {
    ASSERT_TRUE(session_
                    ->drain([&](const SampleRecord& record) {
                      // Who woke it comes first, and may be anybody.
                      if ((record.head.link & VESTA_LINK_ENDER) != 0) {
                        EXPECT_EQ(record.head.values[1], 0U);
                        EXPECT_GE(record.kernel_frames.size(), 1U);
                        enders.insert(record.head.link & ~VESTA_LINK_ENDER);
                        return;
                      }
                      EXPECT_EQ(record.head.pid, wanted.pid());
                      EXPECT_GT(record.head.values[1], 0U);
                      const uint64_t wait_class =
                          record.head.detail >> VESTA_WAIT_CLASS_SHIFT & 0xff;
                      if (wait_class != VESTA_WAIT_INTERRUPTIBLE) return;
                      ++seen;
                      linked += enders.erase(record.head.link);
                      EXPECT_EQ(record.head.detail & VESTA_WAIT_NO_SYSCALL, 230U)
                          << "clock_nanosleep";
                      EXPECT_GE(record.kernel_frames.size(), 3U);
                      EXPECT_GE(record.user_frames.size(), 1U);
                    })
                    .ok());
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_GE(seen, 20U);
  // Not of a wake-up in the moment of the switch, which is rare.
  EXPECT_GE(linked, seen - 2);
  EXPECT_EQ(session_->damaged_records(), 0U);
  // Beside the samples, the exact sums.
  const std::vector<ProbeTotal> totals = probe_->totals();
  ASSERT_EQ(totals.size(), size_t{VESTA_WAIT_TOTALS});
  EXPECT_GE(totals[VESTA_WAIT_INTERRUPTIBLE].count, 20U);
  EXPECT_GE(totals[VESTA_WAIT_INTERRUPTIBLE].value, 20'000'000U);
}

TEST_F(OffCpuProbeTest, AFullRingIsCountedWithItsTime) {
  const Sleeper busy;
  load(4096);
  ASSERT_TRUE(session_->add_target(busy.pid()).ok());
  ASSERT_TRUE(probe_->start().ok());
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (counters()[VESTA_COUNT_RING_FULL] < 10 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(10ms);
  probe_->stop();
  const KernelCounters count = counters();
  EXPECT_GE(count[VESTA_COUNT_RING_FULL], 10U);
  EXPECT_GE(count[VESTA_COUNT_RING_FULL_VALUE], 10 * TakeRate::kMinThetaNs);
  EXPECT_EQ(count[VESTA_COUNT_SAMPLES],
            count[VESTA_COUNT_SENT] + count[VESTA_COUNT_RING_FULL] + count[VESTA_COUNT_NO_SCRATCH]);
}

TEST_F(OffCpuProbeTest, NothingComesAfterStop) {
  const Sleeper busy;
  load();
  ASSERT_TRUE(session_->add_target(busy.pid()).ok());
  ASSERT_TRUE(probe_->start().ok());
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (counters()[VESTA_COUNT_SAMPLES] == 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(5ms);
  probe_->stop();
  const uint64_t before = counters()[VESTA_COUNT_SAMPLES];
  EXPECT_GT(before, 0U);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(counters()[VESTA_COUNT_SAMPLES], before);
}

TEST_F(OffCpuProbeTest, CutsOfAWaitAddUpAndNameTheSameStay) {
  const Sleeper sleeper(true);
  load();
  ASSERT_TRUE(session_->add_target(sleeper.pid()).ok());
  const uint64_t began = monotonic_ns();
  ASSERT_TRUE(probe_->start().ok());
  const uint64_t first_known = monotonic_ns();
  uint64_t sum = 0;
  std::set<uint64_t> switches;
  uint64_t cut_ns = 0;
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(40ms);
    cut_ns = monotonic_ns();
    size_t told = 0;
    ASSERT_TRUE(probe_
                    ->cut(cut_ns, UINT64_MAX,
                          [&](const OpenEvent& event) {
                            ++told;
                            EXPECT_EQ(event.thread.pid, sleeper.pid());
                            EXPECT_NE(event.thread.flags & VESTA_THREAD_HAS_USER, 0U);
                            EXPECT_GT(event.thread.kernel_frames, 0U);
                            switches.insert(event.thread.switches);
                            sum += event.values[1];
                          })
                    .ok());
    EXPECT_EQ(told, 1U) << "longer than theta, so it is taken each time";
  }
  EXPECT_EQ(switches.size(), 1U);
  EXPECT_LE(sum, cut_ns - began);
  EXPECT_GE(sum, cut_ns - first_known);
  // What is too young is left for its end.
  ASSERT_TRUE(probe_->cut(monotonic_ns(), began, [](const OpenEvent&) { ADD_FAILURE(); }).ok());
}

// Waits for a word, as `vesta record -- COMMAND` has its command wait, and then runs sleep.
class HeldChild {
 public:
  HeldChild() {
    EXPECT_EQ(::pipe2(ends_, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ != 0) return;
    char byte = 0;
    if (::read(ends_[0], &byte, 1) == 1) ::execlp("sleep", "sleep", "600", nullptr);
    ::_exit(1);
  }
  ~HeldChild() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  HeldChild(const HeldChild&) = delete;
  HeldChild& operator=(const HeldChild&) = delete;
  void release() const { EXPECT_EQ(::write(ends_[1], "x", 1), 1); }
  uint32_t pid() const { return static_cast<uint32_t>(pid_); }

 private:
  int ends_[2] = {-1, -1};
  pid_t pid_ = -1;
};

TEST_F(OffCpuProbeTest, WhatAHeldProcessDoesBeforeItsProgramIsNotTheProgramsTime) {
  constexpr uint64_t kRead = 0;
  const HeldChild child;
  load();
  ASSERT_TRUE(session_->add_held_target(child.pid()).ok());
  EXPECT_EQ(session_->target_processes(), std::vector<uint32_t>{child.pid()});
  ASSERT_TRUE(session_->follow().ok());
  ASSERT_TRUE(probe_->start().ok());
  std::this_thread::sleep_for(50ms);  // far longer than theta: it would be taken
  ASSERT_TRUE(
      probe_->cut(monotonic_ns(), UINT64_MAX, [](const OpenEvent&) { ADD_FAILURE(); }).ok());
  const uint64_t released = monotonic_ns();
  child.release();
  uint64_t slept = 0;
  const auto is_not_the_wait = [&](const vesta_sample& head) {
    EXPECT_GE(head.time_ns, released);
    EXPECT_NE(head.detail & VESTA_WAIT_NO_SYSCALL, kRead) << "read(), of the pipe";
  };
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (slept == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(40ms);
    ASSERT_TRUE(
        session_->drain([&](const SampleRecord& record) { is_not_the_wait(record.head); }).ok());
    ASSERT_TRUE(probe_
                    ->cut(monotonic_ns(), UINT64_MAX,
                          [&](const OpenEvent& event) { slept += event.values[1]; })
                    .ok());
  }
  EXPECT_GT(slept, 0U);
  EXPECT_LE(slept, monotonic_ns() - released);
}

TEST_F(OffCpuProbeTest, AsksForANumberOfStacks) {
  load();
  EXPECT_EQ(probe_->set_rate(0).error().code, ErrorCode::kUsage);
  EXPECT_TRUE(probe_->set_rate(500).ok());
  EXPECT_GT(probe_->period(), 0U);
}

}  // namespace
}  // namespace vesta::agent
