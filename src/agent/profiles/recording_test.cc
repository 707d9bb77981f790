#include "agent/profiles/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <chrono>
#include <thread>
#include <utility>

#include "agent/probes/test_switch_probe.h"
#include "base/test_requirements.h"
#include "profile/frame_name.h"

namespace vesta::agent {
namespace {

using namespace std::chrono_literals;

// Known names, and never one function inlined into the other.
__attribute__((noinline)) void burn_inner() {
  for (int i = 0; i < 1000; ++i) asm volatile("");
}
[[noreturn]] __attribute__((noinline)) void burn_outer() {
  while (true) {
    burn_inner();
    asm volatile("");
  }
}

class RecordingTest : public ::testing::Test {
 protected:
  void SetUp() override { VESTA_REQUIRE_OR_SKIP(::geteuid() == 0, "recording needs root"); }
  void TearDown() override {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  uint32_t start_victim() {
    pid_ = ::fork();
    if (pid_ == 0) burn_outer();
    return static_cast<uint32_t>(pid_);
  }
  pid_t pid_ = 0;
};

TEST_F(RecordingTest, NamesWhatAProcessDoes) {
  RecordingOptions options;
  options.sampling.probes.front().options.rate = 499;
  options.sampling.targets.pids = {start_victim()};
  auto recording = Recording::start(options);
  ASSERT_TRUE(recording.ok()) << recording.error().message;
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while ((*recording)->progress().coverage.samples < 100 &&
         std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(10ms);
  const auto batch = (*recording)->finish();
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(find_inconsistency(*batch), "");
  const Profile& profile = batch->profiles[0];
  const Recording::Progress progress = (*recording)->progress();
  EXPECT_GE(progress.samples, 100U);
  EXPECT_EQ(progress.lost, 0U);
  EXPECT_EQ(static_cast<uint64_t>(total_of(profile, 0)), progress.samples);
  uint64_t in_order = 0;
  for (size_t row = 0; row < profile.samples.size(); ++row) {
    std::string names;
    for (const LocationId id : batch->dictionary.stacks[profile.samples.stacks[row]]) {
      for (size_t line = 0; line < frame_count(batch->dictionary, id); ++line)
        names += frame_name(batch->dictionary, id, line) + ";";
    }
    const size_t outer = names.find("burn_outer");
    if (outer != std::string::npos && names.find("main;") > outer)
      in_order += static_cast<uint64_t>(profile.value(row, 0));
  }
  // Nearly everything happens there; a page fault or two at the start does not.
  EXPECT_GE(in_order * 100, progress.samples * 90);
}

TEST_F(RecordingTest, EachProbeHasItsProfileAndItsFacts) {
  pid_ = ::fork();
  while (pid_ == 0) {  // burns and waits, in turn
    for (int i = 0; i < 2000; ++i) burn_inner();
    ::usleep(1000);
  }
  RecordingOptions options;
  options.sampling.probes.push_back(request_probe(test::kSwitchKind));
  options.sampling.probes.front().options.rate = 499;
  options.sampling.targets.pids = {static_cast<uint32_t>(pid_)};
  auto recording = Recording::start(options);
  ASSERT_TRUE(recording.ok()) << recording.error().message;
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  const auto has_enough = [&] {
    const Recording::Facts facts = (*recording)->facts();
    return facts.probes[0].samples >= 50 && facts.probes[1].samples >= 50;
  };
  while (!has_enough() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(10ms);
  const auto batch = (*recording)->finish();
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(find_inconsistency(*batch), "");
  const Recording::Facts facts = (*recording)->facts();
  ASSERT_EQ(batch->profiles.size(), 2U);
  ASSERT_EQ(facts.probes.size(), 2U);
  EXPECT_GE(facts.probes[1].samples, 50U);
  EXPECT_EQ((*recording)->progress().samples, facts.probes[0].samples + facts.probes[1].samples);
  EXPECT_EQ(static_cast<uint64_t>(total_of(batch->profiles[0], 0)), facts.probes[0].samples);
  EXPECT_EQ(static_cast<uint64_t>(total_of(batch->profiles[1], 0)),
            facts.probes[1].samples * test::SwitchProbe::kValue);
  EXPECT_EQ(facts.probes[0].rate, 499U);
  EXPECT_EQ(facts.probes[1].rate, 0U);
  EXPECT_EQ(facts.probes[1].source.name, "sched_switch");
}

TEST_F(RecordingTest, AProcessThatDoesNotExistIsSaidToBeMissing) {
  RecordingOptions options;
  options.sampling.targets.pids = {4'194'305};  // above the kernel's limit
  const auto recording = Recording::start(options);
  ASSERT_FALSE(recording.ok());
  EXPECT_EQ(recording.error().code, ErrorCode::kNotFound);
}

TEST_F(RecordingTest, ATargetThatEndsDuringStartUpIsSaidToHaveEnded) {
  SamplingOptions options;
  options.targets.pids = {start_victim()};
  const auto sampling = Sampling::load(options);
  ASSERT_TRUE(sampling.ok()) << sampling.error().message;
  const std::string pid = std::to_string(pid_);
  ::kill(pid_, SIGKILL);
  ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  class Ignore final : public SampleConsumer {
    void add(const ResolvedSamples& /*samples*/) override {}
  } consumer;
  const Status run = (*sampling)->run(consumer);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(run.error().message, "process " + pid + " ended before recording began");
}

TEST_F(RecordingTest, KnowsWhenAllTargetsHaveEnded) {
  RecordingOptions options;
  options.sampling.targets.pids = {start_victim()};
  const auto recording = Recording::start(options);
  ASSERT_TRUE(recording.ok()) << recording.error().message;
  EXPECT_FALSE((*recording)->targets_ended());
  // A zombie has ended, too: its parent has not collected it yet.
  ::kill(pid_, SIGKILL);
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!(*recording)->targets_ended() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(10ms);
  EXPECT_TRUE((*recording)->targets_ended());
}

TEST(RingBytes, GrowWithRateAndCpusWithinBounds) {
  EXPECT_EQ(ring_bytes_for(99, 2), 2U << 20);
  EXPECT_EQ(ring_bytes_for(9999, 2), 8U << 20);
  EXPECT_EQ(ring_bytes_for(9999, 256), 64U << 20);
}

TEST_F(RecordingTest, CanBeDroppedWithoutFinishing) {
  RecordingOptions options;
  options.sampling.whole_host = true;
  start_victim();
  const auto recording = Recording::start(options);
  ASSERT_TRUE(recording.ok()) << recording.error().message;
}

}  // namespace
}  // namespace vesta::agent
