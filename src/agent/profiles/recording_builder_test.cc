#include "agent/profiles/recording_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include <shared/off_cpu.h>
#include "agent/stream/unwind_result.h"
#include "profile/frame_name.h"

namespace vesta::agent {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t kPeriodNs = 10'000'000;
// In clock_nanosleep, and for a CPU after it.
const uint64_t kSleepDetail = vesta_wait_detail(230, VESTA_WAIT_INTERRUPTIBLE, 0);
const uint64_t kSyncDetail = vesta_wait_detail(74, VESTA_WAIT_UNINTERRUPTIBLE, 1);
const uint64_t kPollDetail = vesta_wait_detail(232, VESTA_WAIT_INTERRUPTIBLE, 0);
const uint64_t kLockDetail = vesta_wait_detail(202, VESTA_WAIT_INTERRUPTIBLE, 0) |
                             vesta_futex_detail(0x80, 2, 0);  // a mutex
const uint64_t kRunQueueDetail = vesta_wait_detail(230, VESTA_WAIT_RUN_QUEUE, 0);

class RecordingBuilderTest : public ::testing::Test {
 protected:
  // One sample of a process, with frames at these addresses, leaf first.
  void add(uint32_t process, uint32_t tid, const std::vector<uint64_t>& addresses,
           vesta_unwind_result result = VESTA_UNWIND_COMPLETE) {
    ResolvedSample sample;
    sample.process = process;
    sample.tid = tid;
    sample.result = result;
    sample.values = {1, kPeriodNs};
    std::strcpy(sample.thread, ("t" + std::to_string(tid)).c_str());
    sample.first_frame = static_cast<uint32_t>(samples_.frames.size());
    sample.frame_count = static_cast<uint32_t>(addresses.size());
    for (const uint64_t address : addresses)
      samples_.frames.push_back({address, CodeAddress::Kind::kAnonymous, process});
    samples_.samples.push_back(sample);
  }
  void add_process(uint32_t index, const std::string& name) {
    auto process = std::make_shared<SampledProcess>();
    process->index = index;
    process->pid = 4'000'000 + index;  // above the kernel's limit: it has no perf map
    process->name = name;
    samples_.processes.push_back(process);
  }

  // The last sample is of that probe, which tells so much.
  void of_probe(uint32_t probe, uint64_t ns, uint64_t detail) {
    ResolvedSample& sample = samples_.samples.back();
    sample.probe = probe;
    sample.values = {1, ns};
    sample.detail = detail;
  }

  // The last sample's event was ended by a thread of that process, at these addresses.
  void ended_by(uint32_t process, const std::vector<uint64_t>& addresses) {
    EventEnder& ender = samples_.samples.back().ender;
    ender.process = process;
    ender.tid = 77;
    ender.first_frame = static_cast<uint32_t>(samples_.frames.size());
    ender.frame_count = static_cast<uint32_t>(addresses.size());
    std::strcpy(ender.thread, "releaser");
    for (const uint64_t address : addresses)
      samples_.frames.push_back({address, CodeAddress::Kind::kAnonymous, process});
  }

  void guess(size_t sample) {
    ResolvedSample& last = samples_.samples[sample];
    samples_.frames.insert(samples_.frames.begin() + last.first_frame + 1,
                           {0, CodeAddress::Kind::kGuessedCaller, 0});
    ++last.frame_count;
    ++last.guessed_frames;
  }

  ProfileBatch build(RecordingBuilderOptions options = {}) {
    options.periods.assign(options.probes.size(), kPeriodNs);
    RecordingBuilder builder(symbolizer_, options);
    builder.add(samples_);
    coverage_ = builder.coverage();
    return builder.finish(1'000, 2'000);
  }

  static std::vector<std::string> names_of(const ProfileBatch& batch, size_t row) {
    std::vector<std::string> names;
    for (const LocationId id : batch.dictionary.stacks[batch.profiles[0].samples.stacks[row]])
      names.push_back(frame_name(batch.dictionary, id));
    return names;
  }
  static std::vector<std::string> labels_of(const ProfileBatch& batch, size_t row) {
    std::vector<std::string> labels;
    for (const Label& label :
         batch.dictionary.label_sets[batch.profiles[0].samples.label_set(row)]) {
      labels.push_back(std::string(batch.dictionary.string(label.key)) + "=" +
                       (label.kind == LabelKind::kString
                            ? std::string(batch.dictionary.string(label.text))
                            : std::to_string(label.number)));
    }
    std::ranges::sort(labels);
    return labels;
  }

  Symbolizer symbolizer_{SymbolizerOptions{}};
  ResolvedSamples samples_;
  StackCoverage coverage_;
};

TEST_F(RecordingBuilderTest, EqualStacksAddUpAndTotalsAreKept) {
  add_process(1, "job");
  for (int i = 0; i < 5; ++i) add(1, 10, {0x1000, 0x2000});
  add(1, 10, {0x1001, 0x2000});
  const ProfileBatch batch = build();
  EXPECT_EQ(find_inconsistency(batch), "");
  const Profile& profile = batch.profiles[0];
  EXPECT_EQ(profile.samples.size(), 2U);
  EXPECT_EQ(total_of(profile, 0), 6);
  EXPECT_EQ(total_of(profile, 1), 6 * static_cast<int64_t>(kPeriodNs));
  EXPECT_EQ(profile.duration_ns, 2'000);
  EXPECT_EQ(profile.period, static_cast<int64_t>(kPeriodNs));
}

TEST_F(RecordingBuilderTest, ThreadsAreKeptApartOnlyOnRequest) {
  add_process(1, "job");
  add(1, 10, {0x1000});
  add(1, 11, {0x1000});
  const ProfileBatch together = build();
  EXPECT_EQ(together.profiles[0].samples.size(), 1U);
  EXPECT_THAT(labels_of(together, 0), ElementsAre("pid=4000001", "process=job"));
  const ProfileBatch apart = build({.periods = {}, .per_thread = true});
  EXPECT_EQ(apart.profiles[0].samples.size(), 2U);
  EXPECT_THAT(labels_of(apart, 1),
              ElementsAre("pid=4000001", "process=job", "thread.id=11", "thread.name=t11"));
}

TEST_F(RecordingBuilderTest, TheProcessIsTheOutermostFrameOfAHost) {
  add_process(1, "job");
  add(1, 10, {0x1000, 0x2000});
  EXPECT_THAT(names_of(build({.periods = {}, .process_frames = true}), 0),
              ElementsAre("0x1000", "0x2000", "job"));
}

TEST_F(RecordingBuilderTest, BrokenStacksAreMarkedAndCountedByReason) {
  add_process(1, "job");
  add(1, 10, {0x1000}, VESTA_UNWIND_TRUNCATED);
  add(1, 10, {0x1000}, VESTA_UNWIND_NO_RULE);
  add(1, 10, {0x1000}, VESTA_UNWIND_NO_RULE);
  add(1, 10, {}, VESTA_UNWIND_NO_USER);
  const ProfileBatch batch = build();
  EXPECT_THAT(names_of(batch, 0), ElementsAre("0x1000", "[truncated]"));
  EXPECT_THAT(names_of(batch, 1)[1], HasSubstr("no unwind rule"));
  std::vector<std::string> losses;
  for (const Loss& loss : batch.profiles[0].losses)
    losses.push_back(std::to_string(loss.count) + " " +
                     std::string(batch.dictionary.string(loss.reason)));
  EXPECT_THAT(losses, ElementsAre("1 incomplete stack: more than 512 frames",
                                  "2 incomplete stack: no unwind rule for the code"));
  EXPECT_EQ(coverage_.samples, 4U);
  EXPECT_EQ(coverage_.complete_stacks, 1U) << "the one that has no user stack";
}

TEST_F(RecordingBuilderTest, LostSamplesKeepTheirWeight) {
  add_process(1, "job");
  add(1, 10, {0x1000});
  samples_.lost = {{0, "sample ring full", 3, 0}, {0, "nothing", 0, 0}};
  const ProfileBatch batch = build();
  EXPECT_EQ(total_of(batch.profiles[0], 1), 4 * static_cast<int64_t>(kPeriodNs));
  EXPECT_THAT(names_of(batch, 1), ElementsAre("[lost: sample ring full]"));
  EXPECT_EQ(batch.profiles[0].losses.size(), 1U);
}

TEST_F(RecordingBuilderTest, LostEventsThatDifferSayWhatTheyStoodFor) {
  add_process(1, "job");
  add(1, 10, {0x1000});
  samples_.lost = {{0, "sample ring full", 3, 0, 12'345}};
  const ProfileBatch batch = build();
  EXPECT_EQ(total_of(batch.profiles[0], 0), 4);
  EXPECT_EQ(total_of(batch.profiles[0], 1), static_cast<int64_t>(kPeriodNs) + 12'345);
}

TEST_F(RecordingBuilderTest, FramesWithoutNamesAreCounted) {
  add_process(1, "job");
  add(1, 10, {0x1000, 0x2000, 0x3000});
  build();
  EXPECT_EQ(coverage_.frames, 3U);
  EXPECT_EQ(coverage_.named_frames, 0U);
}

// What is sampled when these kinds are asked for.
RecordingBuilderOptions options_for(const std::vector<std::string>& kinds) {
  std::vector<ProbeRequest> wanted;
  for (const std::string& kind : kinds) wanted.push_back(request_probe(*find_probe(kind)));
  ProbePlan plan = plan_probes(wanted);
  return {.probes = std::move(plan.probes), .periods = {}, .profiles = std::move(plan.profiles)};
}

TEST_F(RecordingBuilderTest, AViewIsMadeOfTheEventsOfSeveralProbes) {
  add_process(1, "job");
  add(1, 10, {0x1000});
  add(1, 10, {0x2000});
  of_probe(1, 700, kSleepDetail);
  add(1, 10, {0x3000});
  of_probe(1, 30, kRunQueueDetail);
  const ProfileBatch batch = build(options_for({"wall"}));
  EXPECT_EQ(find_inconsistency(batch), "");
  ASSERT_EQ(batch.profiles.size(), 1U) << "nobody asked for what it is made of";
  const Profile& wall = batch.profiles[0];
  EXPECT_EQ(batch.dictionary.string(wall.name), "wall");
  EXPECT_EQ(total_of(wall, 0), 3);
  EXPECT_EQ(total_of(wall, 1), static_cast<int64_t>(kPeriodNs) + 730);
  EXPECT_EQ(wall.period, 0) << "each says what it stands for";
  EXPECT_THAT(names_of(batch, 0), ElementsAre("0x1000"));
  EXPECT_THAT(names_of(batch, 1), ElementsAre("[sleep]", "0x2000"));
  EXPECT_THAT(labels_of(batch, 0), ElementsAre("pid=4000001", "process=job", "state=running"));
  EXPECT_THAT(labels_of(batch, 1),
              ElementsAre("pid=4000001", "process=job", "state=sleep", "wait=sleep"));
  EXPECT_THAT(labels_of(batch, 2), Contains("state=run queue"));
}

TEST_F(RecordingBuilderTest, AViewTakesNothingFromItsProbes) {
  add_process(1, "job");
  add(1, 10, {0x1000});
  add(1, 10, {0x2000});
  of_probe(1, 700, kSleepDetail);
  const ProfileBatch batch = build(options_for({"wall", "off-cpu", "cpu"}));
  // The probes are off-cpu and cpu, in this order.
  ASSERT_EQ(batch.profiles.size(), 3U);
  EXPECT_EQ(total_of(batch.profiles[0], 1), static_cast<int64_t>(kPeriodNs) + 700);
  EXPECT_EQ(total_of(batch.profiles[1], 1) + total_of(batch.profiles[2], 1),
            total_of(batch.profiles[0], 1));
  EXPECT_EQ(batch.profiles[2].period, static_cast<int64_t>(kPeriodNs));
}

TEST_F(RecordingBuilderTest, WhatAProbeLosesIsMissingInItsViews) {
  add_process(1, "job");
  add(1, 10, {0x1000});
  samples_.lost = {{1, "sample ring full", 3, 0, 12'345}};
  const ProfileBatch batch = build(options_for({"wall", "cpu"}));
  const Profile& wall = batch.profiles[0];
  EXPECT_EQ(total_of(wall, 1), static_cast<int64_t>(kPeriodNs) + 12'345);
  ASSERT_EQ(wall.losses.size(), 1U);
  EXPECT_EQ(wall.losses[0].count, 3U);
  EXPECT_TRUE(batch.profiles[1].losses.empty()) << "that is another probe";
}

TEST_F(RecordingBuilderTest, AViewOfSomeEventsLeavesOutTheOthers) {
  add_process(1, "job");
  add(1, 10, {0x1000});
  of_probe(0, 700, kSleepDetail);
  add(1, 10, {0x2000});
  of_probe(0, 50, kSyncDetail);
  add(1, 10, {0x2000});
  of_probe(0, 7, kSyncDetail);
  samples_.lost = {{0, "sample ring full", 3, 0, 12'345}};
  const ProfileBatch batch = build(options_for({"block"}));
  const Profile& block = batch.profiles[0];
  ASSERT_EQ(block.samples.size(), 1U);
  EXPECT_EQ(total_of(block, 0), 2);
  EXPECT_EQ(total_of(block, 1), 57) << "of what was lost nobody knows what it was";
  ASSERT_EQ(block.losses.size(), 1U);
  EXPECT_EQ(block.losses[0].count, 3U);
  EXPECT_THAT(names_of(batch, 0), ElementsAre("[disk]", "0x2000"));
  EXPECT_THAT(labels_of(batch, 0), Contains("syscall=fsync"));
}

TEST_F(RecordingBuilderTest, WaitsOfIdleThreadsAreBelowOneFrame) {
  add_process(1, "job");
  const auto fill = [&] {
    add(1, 10, {0x2000, 0x1000});  // polls in its loop
    of_probe(0, 900, kPollDetail);
    add(1, 10, {0x3000, 0x1000});
    of_probe(0, 50, kSyncDetail);
    add(1, 11, {0x2000, 0x1000});  // polls, and does much else
    of_probe(0, 900, kPollDetail);
    add(1, 11, {0x3000, 0x1000});
    of_probe(0, 800, kSyncDetail);
  };
  fill();
  RecordingBuilderOptions options = options_for({"off-cpu", "block"});
  const ProfileBatch folded = build(options);
  EXPECT_EQ(find_inconsistency(folded), "");
  EXPECT_THAT(names_of(folded, 0), ElementsAre("[poll]", "0x2000", "0x1000", "[idle]"));
  EXPECT_THAT(names_of(folded, 1), ElementsAre("[disk]", "0x3000", "0x1000"));
  EXPECT_THAT(names_of(folded, 2), ElementsAre("[poll]", "0x2000", "0x1000"));
  ASSERT_EQ(folded.profiles[0].samples.size(), 3U) << "threads are not kept apart by it";
  EXPECT_EQ(total_of(folded.profiles[0], 1), 2650);
  EXPECT_TRUE(folded.profiles[0].samples.links.empty());
  EXPECT_EQ(total_of(folded.profiles[1], 1), 850);
  options.fold_idle = false;
  const ProfileBatch kept = build(options);
  EXPECT_THAT(names_of(kept, 0), ElementsAre("[poll]", "0x2000", "0x1000"));
  EXPECT_EQ(total_of(kept.profiles[0], 1), 2650);
}

TEST(UnwindResult, EveryResultHasItsOwnWords) {
  std::vector<std::string_view> seen;
  for (int result = 0; result < VESTA_UNWIND_RESULTS; ++result) {
    const auto name = unwind_result_name(static_cast<vesta_unwind_result>(result));
    EXPECT_THAT(seen, Not(Contains(name)));
    seen.push_back(name);
  }
}

TEST_F(RecordingBuilderTest, LocksAreShownByWhoWaitsAndByWhoReleasedThem) {
  add_process(1, "job");
  add(1, 10, {0x1000, 0x2000});
  of_probe(0, 700, kLockDetail);
  samples_.samples.back().object = 0xabc0;
  ended_by(1, {0x5000, 0x6000});
  add(1, 10, {0x1000, 0x2000});
  of_probe(0, 30, kLockDetail);
  add(1, 10, {0x3000});
  of_probe(0, 9, kSleepDetail);
  ProfileBatch batch = build(options_for({"mutex", "mutex-holder", "off-cpu"}));
  EXPECT_EQ(find_inconsistency(batch), "");
  ASSERT_EQ(batch.profiles.size(), 3U);
  EXPECT_EQ(total_of(batch.profiles[0], 1), 730);
  EXPECT_EQ(total_of(batch.profiles[0], 0), 2);
  EXPECT_EQ(total_of(batch.profiles[1], 1), 730);
  EXPECT_EQ(total_of(batch.profiles[2], 1), 739);
  EXPECT_THAT(names_of(batch, 0), ElementsAre("[lock]", "0x1000", "0x2000"));
  EXPECT_THAT(labels_of(batch, 0), ElementsAre("pid=4000001", "process=job", "wait=lock",
                                               "waker.process=job", "waker.thread=releaser"));
  std::swap(batch.profiles[0], batch.profiles[1]);
  EXPECT_THAT(names_of(batch, 0), ElementsAre("0x5000", "0x6000"));
  EXPECT_THAT(names_of(batch, 1), ElementsAre("[holder not known]"));
  // Where the lock is, on request.
  RecordingBuilderOptions options = options_for({"mutex"});
  options.probes[0].options.lock_addresses = true;
  EXPECT_THAT(labels_of(build(options), 0), Contains("lock.address=0xabc0"));
}

TEST_F(RecordingBuilderTest, AWaitIsShownWithWhoEndedIt) {
  add_process(1, "job");
  add_process(2, "server");
  add(1, 10, {0x1000});
  of_probe(0, 700, kSleepDetail);
  ended_by(2, {0x5000, 0x6000});
  add(1, 10, {0x1000});
  of_probe(0, 60, kSleepDetail);
  ended_by(2, {});
  samples_.samples.back().ender.tid = 0;
  add(1, 10, {0x1000});
  of_probe(0, 5, kSleepDetail);
  add(1, 10, {0x1000});
  of_probe(0, 4000, kRunQueueDetail);
  const ProfileBatch batch = build(options_for({"off-cpu-waker"}));
  EXPECT_EQ(find_inconsistency(batch), "");
  EXPECT_EQ(total_of(batch.profiles[0], 1), 765) << "who is in a run queue has been woken";
  EXPECT_THAT(names_of(batch, 0),
              ElementsAre("0x5000", "0x6000", "[woken by server]", "[sleep]", "0x1000"));
  EXPECT_THAT(labels_of(batch, 0), Contains("waker.process=server"));
  EXPECT_THAT(names_of(batch, 1), ElementsAre("[woken by interrupt]", "[sleep]", "0x1000"));
  EXPECT_THAT(labels_of(batch, 1), Contains("waker.process=[interrupt]"));
  EXPECT_THAT(names_of(batch, 2), ElementsAre("[waker not known]", "[sleep]", "0x1000"));
}

TEST_F(RecordingBuilderTest, MarksCallersThatAreOnlyLikely) {
  add_process(1, "codec");
  add(1, 11, {0x10, 0x20});
  guess(0);
  const ProfileBatch batch = build();
  EXPECT_THAT(names_of(batch, 0), ElementsAre("0x10", "[guessed caller]", "0x20"));
  EXPECT_EQ(coverage_.frames, 2U);
  EXPECT_EQ(coverage_.guessed_frames, 1U);
  EXPECT_EQ(coverage_.complete_stacks, 1U);
}

}  // namespace
}  // namespace vesta::agent
