#include "agent/profiles/window_profiler.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <atomic>
#include <thread>

#include "base/test_requirements.h"
#include "profile/frame_name.h"

namespace vesta::agent {
namespace {

using namespace std::chrono_literals;

[[noreturn]] __attribute__((noinline)) void burn_in_window() {
  while (true) asm volatile("");
}

class WindowProfilerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    VESTA_REQUIRE_OR_SKIP(::geteuid() == 0, "sampling needs root");
    pid_ = ::fork();
    if (pid_ == 0) burn_in_window();
  }
  void TearDown() override {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid_ = 0;
};

TEST_F(WindowProfilerTest, EverySampleIsInExactlyOneWindow) {
  WindowProfilerOptions options;
  options.sampling.probes.front().options.rate = 199;
  options.sampling.whole_host = true;
  options.duration_ns = 400'000'000;
  options.first_duration_ns = 200'000'000;
  options.resource_of = [this](const SampledProcess& process) -> std::optional<ProcessResource> {
    if (process.pid != static_cast<uint32_t>(pid_)) return std::nullopt;
    return ProcessResource{{{"service.name", "victim"}}};
  };
  std::atomic<int> windows{0};
  int64_t samples = 0;
  int64_t last_end_ns = 0;
  bool is_named = false;
  options.on_window = [&](const ProfileBatch& batch) {
    EXPECT_EQ(find_inconsistency(batch), "");
    for (const Profile& profile : batch.profiles) {
      samples += total_of(profile, 0);
      // One after the other.
      EXPECT_GE(profile.time_ns, last_end_ns - 5'000'000);
      last_end_ns = profile.time_ns + profile.duration_ns;
      for (const StackId stack : profile.samples.stacks) {
        for (const LocationId id : batch.dictionary.stacks[stack])
          is_named |= frame_name(batch.dictionary, id).find("burn_in_window") != std::string::npos;
      }
    }
    ++windows;
  };
  auto profiler = WindowProfiler::start(options);
  ASSERT_TRUE(profiler.ok()) << profiler.error().message;
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (windows < 4 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(10ms);
  (*profiler)->stop();
  EXPECT_GE(windows, 4);
  EXPECT_TRUE(is_named);
  const WindowProfiler::Facts facts = (*profiler)->facts();
  const Sampling::Counters counters = (*profiler)->sampling().counters();
  EXPECT_EQ(facts.samples + counters.lost_total(), counters.samples);
  EXPECT_EQ(static_cast<uint64_t>(samples),
            facts.samples - facts.other_samples + counters.lost_total());
}

}  // namespace
}  // namespace vesta::agent
