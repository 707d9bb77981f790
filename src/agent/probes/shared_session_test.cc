// Two probes on one session: a second object shares the first one's maps, ring and targets, and its
// samples say whose they are.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include <shared/session.h>
#include "agent/probes/cpu/cpu_probe.h"
#include "agent/probes/test_switch_probe.h"
#include "base/test_requirements.h"

namespace vesta::agent {
namespace {

using namespace std::chrono_literals;

uint32_t map_id(int fd) {
  bpf_map_info info{};
  uint32_t bytes = sizeof(info);
  return bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0 ? info.id : 0;
}

// Burns CPU and sleeps, in turn.
class BusyAndWaiting {
 public:
  BusyAndWaiting() : pid_(::fork()) {
    if (pid_ != 0) return;
    while (true) {
      for (int i = 0; i < 2'000'000; ++i) asm volatile("");
      ::usleep(1000);
    }
  }
  ~BusyAndWaiting() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  BusyAndWaiting(const BusyAndWaiting&) = delete;
  BusyAndWaiting& operator=(const BusyAndWaiting&) = delete;
  uint32_t pid() const { return static_cast<uint32_t>(pid_); }

 private:
  pid_t pid_;
};

class SharedSessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    VESTA_REQUIRE_OR_SKIP(::geteuid() == 0, "kernel programs need root");
    KernelSessionOptions options;
    options.only_targets = true;
    auto session = KernelSession::load(options);
    ASSERT_TRUE(session.ok()) << session.error().message;
    session_ = std::move(*session);
    CpuProbeOptions fast;
    fast.rate = 499;
    auto cpu = CpuProbe::load(*session_, 0, fast);
    ASSERT_TRUE(cpu.ok()) << cpu.error().message;
    cpu_ = std::move(*cpu);
    auto switches = test::SwitchProbe::load(*session_, 1, {});
    ASSERT_TRUE(switches.ok()) << switches.error().message;
    switches_ = std::move(*switches);
  }

  std::unique_ptr<KernelSession> session_;
  std::unique_ptr<CpuProbe> cpu_;
  std::unique_ptr<Probe> switches_;
};

TEST_F(SharedSessionTest, ASecondObjectHasTheMapsOfTheFirst) {
  const auto& maps = dynamic_cast<const test::SwitchProbe&>(*switches_).skeleton().maps;
  EXPECT_EQ(map_id(bpf_map__fd(maps.processes)), map_id(session_->maps().processes));
  EXPECT_EQ(map_id(bpf_map__fd(maps.mapping_leaves)), map_id(session_->maps().mapping_leaves));
  EXPECT_EQ(map_id(bpf_map__fd(maps.modules)), map_id(session_->maps().modules));
  EXPECT_EQ(map_id(bpf_map__fd(maps.tables)), map_id(session_->maps().tables));
  EXPECT_NE(map_id(session_->maps().tables), 0U);
}

TEST_F(SharedSessionTest, BothProbesSendToOneRingAndSayWhoTheyAre) {
  const BusyAndWaiting wanted;
  const BusyAndWaiting other;
  ASSERT_TRUE(session_->add_target(wanted.pid()).ok());
  ASSERT_TRUE(switches_->start().ok());
  ASSERT_TRUE(cpu_->start().ok());
  std::array<uint64_t, 2> seen{};
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while ((seen[0] < 20 || seen[1] < 20) && std::chrono::steady_clock::now() < deadline) {
    ASSERT_TRUE(session_
                    ->drain([&](const SampleRecord& record) {
                      ASSERT_LT(record.head.probe, seen.size());
                      ++seen[record.head.probe];
                      EXPECT_EQ(record.head.pid, wanted.pid());
                      EXPECT_GE(record.user_frames.size(), 1U);
                      if (record.head.probe != 1) return;
                      EXPECT_EQ(record.head.values[0], test::SwitchProbe::kValue);
                      // It left the CPU in the kernel; its registers come from the kernel stack.
                      EXPECT_GE(record.kernel_frames.size(), 1U);
                    })
                    .ok());
    std::this_thread::sleep_for(5ms);
  }
  cpu_->stop();
  switches_->stop();
  EXPECT_GE(seen[0], 20U);
  EXPECT_GE(seen[1], 20U);
  EXPECT_EQ(session_->damaged_records(), 0U);
  // Each has counters of its own.
  const KernelCounters cpu = session_->counters(0);
  const KernelCounters switches = session_->counters(1);
  EXPECT_GT(cpu[VESTA_COUNT_IGNORED], 0U);
  EXPECT_EQ(switches[VESTA_COUNT_IGNORED], 0U);
  EXPECT_GE(switches[VESTA_COUNT_SENT], seen[1]);
  EXPECT_EQ(switches[VESTA_COUNT_SAMPLES], switches[VESTA_COUNT_SENT] +
                                               switches[VESTA_COUNT_RING_FULL] +
                                               switches[VESTA_COUNT_NO_SCRATCH]);
}

}  // namespace
}  // namespace vesta::agent
