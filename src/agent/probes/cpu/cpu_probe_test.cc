#include "agent/probes/cpu/cpu_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>

#include "agent/kernel/bpf_stats.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/test_requirements.h"
#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

using namespace std::chrono_literals;

// Burns CPU until it is destroyed.
class BusyProcess {
 public:
  BusyProcess() : pid_(::fork()) {
    if (pid_ == 0) {
      while (true) asm volatile("" ::: "memory");
    }
  }
  ~BusyProcess() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  BusyProcess(const BusyProcess&) = delete;
  BusyProcess& operator=(const BusyProcess&) = delete;
  uint32_t pid() const { return static_cast<uint32_t>(pid_); }

 private:
  pid_t pid_;
};

// A session with the probe on it.
struct Sampler {
  std::unique_ptr<KernelSession> session;
  std::unique_ptr<CpuProbe> probe;

  Status start() const {
    VESTA_TRY(session->follow());
    return probe->start();
  }
  KernelCounters counters() const { return session->counters(0); }
};

class CpuProbeTest : public ::testing::Test {
 protected:
  void SetUp() override { VESTA_REQUIRE_OR_SKIP(::geteuid() == 0, "sampling needs root"); }
  static Result<Sampler> load(const CpuProbeOptions& options,
                              const KernelSessionOptions& session = {}) {
    Sampler sampler;
    VESTA_ASSIGN(sampler.session, KernelSession::load(session));
    VESTA_ASSIGN(sampler.probe, CpuProbe::load(*sampler.session, 0, options));
    return sampler;
  }
  static KernelSessionOptions only_targets() {
    KernelSessionOptions options;
    options.only_targets = true;
    return options;
  }
  static CpuProbeOptions at_rate(uint32_t rate) {
    CpuProbeOptions options;
    options.rate = rate;
    return options;
  }
  // Drains until enough records came in, or 10 s have passed.
  static std::vector<vesta_sample> collect(const Sampler& sampler, size_t enough) {
    std::vector<vesta_sample> records;
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (records.size() < enough && std::chrono::steady_clock::now() < deadline) {
      EXPECT_TRUE(sampler.session
                      ->drain([&](const SampleRecord& record) { records.push_back(record.head); })
                      .ok());
      std::this_thread::sleep_for(5ms);
    }
    return records;
  }
};

TEST_F(CpuProbeTest, SamplesOnlyItsTargets) {
  const BusyProcess wanted;
  const BusyProcess other;
  auto sampler = load(at_rate(499), only_targets());
  ASSERT_TRUE(sampler.ok()) << sampler.error().message;
  ASSERT_TRUE(sampler->session->add_target(wanted.pid()).ok());
  ASSERT_TRUE(sampler->start().ok());
  const auto records = collect(*sampler, 50);
  sampler->probe->stop();
  ASSERT_GE(records.size(), 50U);
  for (const vesta_sample& record : records) {
    EXPECT_EQ(record.pid, wanted.pid());
    EXPECT_EQ(record.tid, wanted.pid());
    EXPECT_EQ(record.values[1], 1'000'000'000U / 499);
    // Nobody has told the kernel side of this process: every stack comes along to be finished.
    EXPECT_GE(record.user_frames, 1U);
    EXPECT_EQ(record.result, VESTA_UNWIND_NO_PROCESS);
    EXPECT_GT(record.stack_bytes, 0U);
  }
  const KernelCounters counters = sampler->counters();
  EXPECT_EQ(counters[VESTA_COUNT_SAMPLES],
            counters[VESTA_COUNT_SENT] + counters[VESTA_COUNT_RING_FULL]);
  EXPECT_GT(counters[VESTA_COUNT_IGNORED], 0U);
  EXPECT_EQ(sampler->session->damaged_records(), 0U);
}

TEST_F(CpuProbeTest, CopiesADeepStackAndWhatLiesJustBelow) {
  constexpr size_t kDeep = 90'000;  // of the 96 KiB that are copied at most
  const pid_t victim = ::fork();
  if (victim == 0) {
    // Below the frames of whoever called, as in a program that has gone deep.
    auto* frame = static_cast<volatile char*>(__builtin_alloca(2 * kDeep));
    for (size_t i = 0; i < 2 * kDeep; i += 512) frame[i] = 1;
    while (true) asm volatile("" ::: "memory");
  }
  auto sampler = load(at_rate(499), only_targets());
  ASSERT_TRUE(sampler.ok()) << sampler.error().message;
  ASSERT_TRUE(sampler->session->add_target(static_cast<uint32_t>(victim)).ok());
  ASSERT_TRUE(sampler->start().ok());
  size_t copied = 0;
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (copied < kDeep && std::chrono::steady_clock::now() < deadline) {
    (void)sampler->session->drain([&](const SampleRecord& record) {
      uint64_t end = record.head.resume.sp - record.head.stack_below + record.stack.size();
      EXPECT_EQ(record.head.stack_below,
                std::min<uint64_t>(VESTA_STACK_COPY_BELOW, record.head.resume.sp % 4096));
      for (const StackPiece& piece : record.more_stack) {
        EXPECT_EQ(piece.address, end) << "no gap between the parts";
        end += piece.bytes.size();
      }
      copied = std::max<size_t>(copied, end - record.head.resume.sp);
    });
    std::this_thread::sleep_for(5ms);
  }
  sampler->probe->stop();
  EXPECT_GE(copied, kDeep);
  ::kill(victim, SIGKILL);
  ::waitpid(victim, nullptr, 0);
}

TEST_F(CpuProbeTest, ChildrenOfATargetAreTargets) {
  auto sampler = load(at_rate(499), only_targets());
  ASSERT_TRUE(sampler.ok()) << sampler.error().message;
  ASSERT_TRUE(sampler->session->add_target(static_cast<uint32_t>(::getpid())).ok());
  ASSERT_TRUE(sampler->start().ok());
  const BusyProcess child;
  const auto records = collect(*sampler, 50);
  sampler->probe->stop();
  EXPECT_TRUE(
      std::ranges::any_of(records, [&](const vesta_sample& r) { return r.pid == child.pid(); }));
}

TEST_F(CpuProbeTest, SamplesOnlyTheThreadsThatWereNamed) {
  const BusyProcess wanted;
  const BusyProcess other;
  auto sampler = load(at_rate(499), only_targets());
  ASSERT_TRUE(sampler.ok()) << sampler.error().message;
  // Of the other one a thread that it does not have.
  ASSERT_TRUE(sampler->session->add_target_thread(wanted.pid(), wanted.pid()).ok());
  ASSERT_TRUE(sampler->session->add_target_thread(other.pid(), 4'194'304).ok());
  EXPECT_TRUE(sampler->session->target_processes().empty());
  ASSERT_TRUE(sampler->start().ok());
  const auto records = collect(*sampler, 50);
  sampler->probe->stop();
  ASSERT_GE(records.size(), 50U);
  for (const vesta_sample& record : records) EXPECT_EQ(record.pid, wanted.pid());
  // Naming the whole process is more, in either order.
  ASSERT_TRUE(sampler->session->add_target(wanted.pid()).ok());
  ASSERT_TRUE(sampler->session->add_target_thread(wanted.pid(), wanted.pid()).ok());
  EXPECT_EQ(sampler->session->target_processes(), std::vector<uint32_t>{wanted.pid()});
}

TEST(MaxSampleRate, IsReadFromTheKernelsFile) {
  const TemporaryFolder folder;
  const std::string file = folder.path("max_sample_rate");
  std::ofstream(file) << "5000\n";
  EXPECT_EQ(max_sample_rate(file.c_str()), 5000U);
  std::ofstream(file) << "none\n";
  EXPECT_EQ(max_sample_rate(file.c_str()), UINT32_MAX);
  ::unlink(file.c_str());
  EXPECT_EQ(max_sample_rate(file.c_str()), UINT32_MAX);
}

TEST_F(CpuProbeTest, FollowsCpusThatComeAndGo) {
  const auto online = online_cpus();
  ASSERT_TRUE(online.ok());
  VESTA_REQUIRE_OR_SKIP(online->size() >= 2, "this machine has one CPU only");
  const TemporaryFolder folder;
  const std::string list = folder.path("cpus");
  const auto write_list = [&](const std::string& text) {
    ASSERT_TRUE(write_file(list, text).ok());
  };
  const std::string first = std::to_string((*online)[0]);
  const std::string both = first + "," + std::to_string((*online)[1]);
  // One for each CPU and one more, so that no CPU is idle.
  const BusyProcess a;
  const BusyProcess b;
  const BusyProcess c;
  CpuProbeOptions options = at_rate(499);
  options.online_cpus = list;
  write_list(first);
  auto sampler = load(options);
  ASSERT_TRUE(sampler.ok()) << sampler.error().message;
  ASSERT_TRUE(sampler->start().ok());
  const auto cpus_of = [](const std::vector<vesta_sample>& records) {
    std::set<uint32_t> cpus;
    for (const vesta_sample& record : records) cpus.insert(record.cpu);
    return cpus.size();
  };
  EXPECT_EQ(cpus_of(collect(*sampler, 50)), 1U);
  write_list(both);
  ASSERT_TRUE(sampler->probe->maintain().ok());
  EXPECT_EQ(cpus_of(collect(*sampler, 200)), 2U);
  write_list(first);
  ASSERT_TRUE(sampler->probe->maintain().ok());
  (void)sampler->session->drain([](const SampleRecord&) {});
  EXPECT_EQ(cpus_of(collect(*sampler, 50)), 1U);
  ::unlink(list.c_str());
}

TEST_F(CpuProbeTest, NothingComesAfterStop) {
  const BusyProcess busy;
  auto sampler = load({});
  ASSERT_TRUE(sampler.ok()) << sampler.error().message;
  ASSERT_TRUE(sampler->start().ok());
  EXPECT_FALSE(collect(*sampler, 5).empty());
  sampler->probe->stop();
  (void)sampler->session->drain([](const SampleRecord&) {});
  const uint64_t before = sampler->counters()[VESTA_COUNT_SAMPLES];
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(sampler->counters()[VESTA_COUNT_SAMPLES], before);
}

TEST_F(CpuProbeTest, AFullRingIsCountedNotHidden) {
  const BusyProcess busy;
  KernelSessionOptions small;
  small.ring_bytes = 16384;
  auto sampler = load(at_rate(999), small);
  ASSERT_TRUE(sampler.ok()) << sampler.error().message;
  ASSERT_TRUE(sampler->start().ok());
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (sampler->counters()[VESTA_COUNT_RING_FULL] == 0 &&
         std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(10ms);
  sampler->probe->stop();
  const KernelCounters counters = sampler->counters();
  EXPECT_GT(counters[VESTA_COUNT_RING_FULL], 0U);
  EXPECT_GT(counters[VESTA_COUNT_NOT_DEFERRED], 0U);
  EXPECT_EQ(counters[VESTA_COUNT_SAMPLES],
            counters[VESTA_COUNT_SENT] + counters[VESTA_COUNT_RING_FULL]);
}

// CPU time of a process, from the kernel's own books.
uint64_t cpu_time_ns(uint32_t pid) {
  clockid_t clock = 0;
  return ::clock_getcpuclockid(static_cast<pid_t>(pid), &clock) == 0 ? clock_ns(clock) : 0;
}

TEST_F(CpuProbeTest, WeightsStayTrueWhenTheRateChanges) {
  CpuProbeOptions options;
  options.clock = ClockSource::kSoftware;
  auto sampler = load(options, only_targets());
  ASSERT_TRUE(sampler.ok()) << sampler.error().message;
  const BusyProcess busy;
  // Ahead of all others: what is measured is the clock, not the luck of who runs at a tick.
  const sched_param first{.sched_priority = 1};
  VESTA_REQUIRE_OR_SKIP(
      ::sched_setscheduler(static_cast<pid_t>(busy.pid()), SCHED_FIFO, &first) == 0,
      "no process may run ahead of all others here");
  ASSERT_TRUE(sampler->session->add_target(busy.pid()).ok());
  ASSERT_TRUE(sampler->start().ok());
  const uint64_t before_ns = cpu_time_ns(busy.pid());
  uint64_t weight_ns = 0;
  std::set<uint64_t> weights;
  const auto drain = [&] {
    EXPECT_TRUE(sampler->session
                    ->drain([&](const SampleRecord& record) {
                      weight_ns += record.head.values[1];
                      weights.insert(record.head.values[1]);
                    })
                    .ok());
  };
  // Shorter than some of the periods: a change then comes before the first tick.
  constexpr std::array<uint32_t, 6> kRates = {29, 199, 19, 61, 37, 99};
  const auto end = std::chrono::steady_clock::now() + 6s;
  for (size_t i = 0; std::chrono::steady_clock::now() < end; ++i) {
    std::this_thread::sleep_for(40ms);
    const uint32_t rate = kRates[i % kRates.size()];
    ASSERT_TRUE(sampler->probe->set_rate(rate).ok());
    EXPECT_EQ(sampler->probe->clock().period_ns, 1'000'000'000U / rate);
    drain();
  }
  const uint64_t used_ns = cpu_time_ns(busy.pid()) - before_ns;
  sampler->probe->stop();
  drain();
  EXPECT_EQ(sampler->counters()[VESTA_COUNT_RING_FULL], 0U);
  EXPECT_GT(weights.size(), 3U);
  RecordProperty("measured_share",
                 std::to_string(static_cast<double>(weight_ns) / static_cast<double>(used_ns)));
  EXPECT_NEAR(static_cast<double>(weight_ns), static_cast<double>(used_ns),
              0.05 * static_cast<double>(used_ns));
}

TEST_F(CpuProbeTest, RecordsAfterAChangeCarryTheNewPeriod) {
  const BusyProcess busy;
  auto sampler = load(at_rate(499));
  ASSERT_TRUE(sampler.ok()) << sampler.error().message;
  ASSERT_TRUE(sampler->start().ok());
  for (const vesta_sample& record : collect(*sampler, 20))
    EXPECT_EQ(record.values[1], 1'000'000'000U / 499);
  ASSERT_TRUE(sampler->probe->set_rate(199).ok());
  (void)sampler->session->drain([](const SampleRecord&) {});
  uint64_t carried = 0;
  for (const vesta_sample& record : collect(*sampler, 60)) {
    if (record.values[1] == 1'000'000'000U / 199) continue;
    ++carried;
    EXPECT_GT(record.values[1], 1'000'000'000U / 199);
  }
  EXPECT_LE(carried, online_cpus()->size()) << "one of each CPU";
  EXPECT_EQ(sampler->probe->set_rate(0).error().code, ErrorCode::kUsage);
}

TEST_F(CpuProbeTest, ItsRunTimeIsCountedWhileSomebodyAsks) {
  auto counting = count_bpf_run_time();
  ASSERT_TRUE(counting.ok()) << counting.error().message;
  const BusyProcess busy;
  auto sampler = load({});
  ASSERT_TRUE(sampler.ok()) << sampler.error().message;
  ASSERT_TRUE(sampler->start().ok());
  EXPECT_FALSE(collect(*sampler, 10).empty());
  const KernelRunTime time = sampler->probe->cost();
  EXPECT_GE(time.runs, 10U);
  EXPECT_GT(time.ns, time.runs * 100) << "a stack takes longer than that";
}

TEST(PerfClock, HardwareThatIsNotThereIsSaidToBeMissing) {
  const auto clock = choose_clock(ClockSource::kHardware, 99);
  if (clock.ok()) {  // then the wish is granted to the letter
    EXPECT_EQ(clock->source, ClockSource::kHardware);
    EXPECT_GT(clock->period, 0U);
    return;
  }
  EXPECT_EQ(clock.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(clock.error().hint, ::testing::HasSubstr("cpu-clock"));
}

TEST(PerfClock, AutomaticChoiceFallsBackToTheSoftwareClock) {
  const auto clock = choose_clock(ClockSource::kAuto, 100);
  ASSERT_TRUE(clock.ok()) << clock.error().message;
  EXPECT_EQ(clock->period_ns, 10'000'000U);
  EXPECT_EQ(clock->source == ClockSource::kHardware,
            std::string_view(clock->fallback_reason).empty());
}

}  // namespace
}  // namespace vesta::agent
