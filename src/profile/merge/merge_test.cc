#include "profile/merge/merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"

namespace vesta {
namespace {

using test::batch_from;
using test::dump;
using test::meaning;
using test::random_batch;
using test::total_of_type;

ProfileBatch merge_all(const std::vector<ProfileBatch>& batches,
                       GaugeMerge gauges = GaugeMerge::kSum) {
  std::vector<const ProfileBatch*> pointers;
  pointers.reserve(batches.size());
  for (const ProfileBatch& batch : batches) pointers.push_back(&batch);
  return merge(pointers, gauges);
}

std::vector<ProfileBatch> random_batches(uint64_t seed, size_t count) {
  std::vector<ProfileBatch> batches;
  for (size_t i = 0; i < count; ++i) batches.push_back(random_batch(seed * 100 + i));
  return batches;
}

TEST(MergeTest, MergeKeepsTotals) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const auto batches = random_batches(seed, 4);
    const ProfileBatch all = merge_all(batches);
    for (const std::string_view type : {"cpu", "inuse_space"}) {
      int64_t sum = 0;
      for (const ProfileBatch& batch : batches) sum += total_of_type(batch, type);
      EXPECT_EQ(total_of_type(all, type), sum);
    }
    EXPECT_EQ(find_inconsistency(all), "");
  }
}

TEST(MergeTest, MergeKeepsEveryStackWithItsLabelsLinksAndTimes) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const auto batches = random_batches(seed, 3);
    std::map<std::string, int64_t> sum;
    for (const ProfileBatch& batch : batches) {
      for (const auto& [key, value] : meaning(batch)) sum[key] += value;
    }
    EXPECT_EQ(meaning(merge_all(batches)), sum);
  }
}

TEST(MergeTest, OrderOfInputsDoesNotMatter) {
  std::mt19937_64 random(7);
  for (uint64_t seed = 0; seed < 8; ++seed) {
    auto batches = random_batches(seed, 5);
    const std::string expected = dump(merge_all(batches));
    for (int round = 0; round < 5; ++round) {
      std::shuffle(batches.begin(), batches.end(), random);
      EXPECT_EQ(dump(merge_all(batches)), expected);
    }
  }
}

TEST(MergeTest, NestingOfMergesDoesNotMatter) {
  std::mt19937_64 random(11);
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const auto batches = random_batches(seed, 6);
    const std::string expected = dump(merge_all(batches));
    for (int round = 0; round < 5; ++round) {
      // Puts random groups together until one is left.
      std::vector<ProfileBatch> left = batches;
      while (left.size() > 1) {
        std::shuffle(left.begin(), left.end(), random);
        const size_t count = 2 + random() % (left.size() - 1);
        const std::vector<ProfileBatch> group(left.end() - static_cast<ptrdiff_t>(count),
                                              left.end());
        left.resize(left.size() - count);
        left.push_back(merge_all(group));
      }
      EXPECT_EQ(dump(left[0]), expected);
    }
  }
}

TEST(MergeTest, MergeIsAssociative) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const auto b = random_batches(seed, 3);
    const ProfileBatch left = merge_all({merge_all({b[0], b[1]}), b[2]});
    const ProfileBatch right = merge_all({b[0], merge_all({b[1], b[2]})});
    EXPECT_EQ(dump(left), dump(right));
  }
}

TEST(MergeTest, EmptyBatchChangesNothing) {
  const ProfileBatch batch = random_batch(1);
  EXPECT_EQ(dump(merge_all({batch, ProfileBatch()})), dump(canonicalize(batch)));
  EXPECT_EQ(dump(merge_all({})), dump(ProfileBatch()));
}

TEST(MergeTest, CanonicalFormIsAFixedPoint) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const ProfileBatch once = canonicalize(random_batch(seed));
    EXPECT_EQ(dump(canonicalize(once)), dump(once));
  }
}

TEST(MergeTest, CanonicalFormHasNoUnusedAndNoRepeatedEntries) {
  ProfileBatch batch = batch_from({{"main;work", 5}});
  const std::string expected = dump(canonicalize(batch));
  // The same again, with strings, functions and locations twice, and some that nobody uses.
  ProfileBatch wasteful;
  Dictionary& d = wasteful.dictionary;
  d.strings.add("nobody uses this");
  Profile p;
  p.sample_types.push_back({d.strings.add("cpu"), d.strings.add("nanoseconds")});
  for (const int64_t value : {2, 3}) {
    std::vector<LocationId> stack;
    for (const std::string_view name : {"work", "main"}) {
      Function f;
      f.name = d.strings.add(name);
      f.system_name = d.strings.add(name);
      d.functions.push_back(f);
      const Line line{FunctionId(d.functions.size() - 1), 0, 0};
      stack.push_back(d.add_location({}, std::span<const Line>(&line, 1)));
    }
    p.add_sample(d.stacks.add(stack), std::span<const int64_t>(&value, 1));
  }
  wasteful.profiles.push_back(p);
  EXPECT_EQ(dump(canonicalize(wasteful)), expected);
}

TEST(MergeTest, AccumulatorGivesWhatMergeGives) {
  const auto batches = random_batches(3, 4);
  MergeAccumulator accumulator;
  for (const ProfileBatch& batch : batches) accumulator.add(batch);
  EXPECT_EQ(dump(accumulator.finish()), dump(merge_all(batches)));
  EXPECT_EQ(dump(accumulator.finish()), dump(ProfileBatch()));
}

TEST(MergeTest, ProfilesOfDifferentResourcesStayApart) {
  ProfileBatch batch = batch_from({{"main", 1}});
  DictionaryBuilder builder(batch.dictionary);
  batch.profiles.push_back(batch.profiles[0]);
  const Label label = builder.text_label("service_name", "web");
  batch.profiles[1].resource = builder.label_set(std::span<const Label>(&label, 1));
  EXPECT_EQ(merge_all({batch, batch}).profiles.size(), 2u);
}

TEST(MergeTest, TimeIsTheEarliestKnownAndDurationTheSum) {
  ProfileBatch a = batch_from({{"main", 1}});
  ProfileBatch b = a;
  ProfileBatch c = a;
  a.profiles[0].time_ns = 0;
  b.profiles[0].time_ns = 200;
  c.profiles[0].time_ns = 100;
  a.profiles[0].duration_ns = 1;
  b.profiles[0].duration_ns = 2;
  c.profiles[0].duration_ns = 4;
  b.profiles[0].period = 10;
  const ProfileBatch all = merge_all({a, b, c});
  EXPECT_EQ(all.profiles[0].time_ns, 100);
  EXPECT_EQ(all.profiles[0].duration_ns, 7);
  EXPECT_EQ(all.profiles[0].period, 10);
}

TEST(MergeTest, LossesAddUpByReason) {
  ProfileBatch a = batch_from({{"main", 1}});
  a.profiles[0].add_loss(a.dictionary.strings.intern("ring full"), 3);
  ProfileBatch b = batch_from({{"main", 1}});
  b.profiles[0].add_loss(b.dictionary.strings.intern("truncated"), 1);
  b.profiles[0].add_loss(b.dictionary.strings.intern("ring full"), 4);
  const ProfileBatch all = merge_all({a, b});
  ASSERT_EQ(all.profiles[0].losses.size(), 2u);
  EXPECT_EQ(all.dictionary.string(all.profiles[0].losses[0].reason), "ring full");
  EXPECT_EQ(all.profiles[0].losses[0].count, 7u);
  EXPECT_EQ(all.profiles[0].losses[1].count, 1u);
}

TEST(MergeTest, FramesToDropAndToKeepStayTogether) {
  const auto with = [](std::string_view drop, std::string_view keep) {
    ProfileBatch batch = batch_from({{"main", 1}});
    batch.profiles[0].drop_frames = batch.dictionary.strings.intern(drop);
    batch.profiles[0].keep_frames = batch.dictionary.strings.intern(keep);
    return batch;
  };
  const ProfileBatch all = merge_all({with("", "a"), with("z", "b"), with("y", "c")});
  EXPECT_EQ(all.dictionary.string(all.profiles[0].drop_frames), "y");
  EXPECT_EQ(all.dictionary.string(all.profiles[0].keep_frames), "c");
}

TEST(MergeTest, TheMainBinaryStaysFirst) {
  const auto with_mappings = [](const std::vector<std::string_view>& files) {
    ProfileBatch batch = batch_from({});
    DictionaryBuilder builder(batch.dictionary);
    for (const std::string_view file : files) {
      Mapping mapping;
      mapping.file = builder.string(file);
      Location location;
      location.mapping = builder.mapping(mapping);
      const LocationId id = builder.location(location, {});
      const int64_t value = 1;
      batch.profiles[0].add_sample(builder.stack(std::span<const LocationId>(&id, 1)),
                                   std::span<const int64_t>(&value, 1));
    }
    return batch;
  };
  const auto first = [](const ProfileBatch& batch) {
    return batch.dictionary.string(batch.dictionary.mappings[1].file);
  };
  const ProfileBatch server = with_mappings({"/usr/bin/server", "/lib/libc.so"});
  EXPECT_EQ(first(merge_all({server, server})), "/usr/bin/server");
  const ProfileBatch tool = with_mappings({"/usr/bin/tool", "/lib/libc.so"});
  EXPECT_EQ(first(merge_all({tool, server})), "/usr/bin/server");
}

TEST(MergeTest, GaugesAddUpOverInstances) {
  const ProfileBatch heap = batch_from({{"main;alloc", 100}}, "inuse_space", "bytes");
  EXPECT_EQ(total_of_type(merge_all({heap, heap, heap}), "inuse_space"), 300);
}

TEST(MergeTest, GaugesAverageOverTimeAndCountersStillAddUp) {
  const ProfileBatch early = batch_from({{"main;alloc", 100}}, "inuse_space", "bytes");
  const ProfileBatch late = batch_from({{"main;alloc", 300}}, "inuse_space", "bytes");
  EXPECT_EQ(total_of_type(merge_all({early, late}, GaugeMerge::kAverage), "inuse_space"), 200);
  const ProfileBatch cpu = batch_from({{"main", 100}});
  EXPECT_EQ(total_of_type(merge_all({cpu, cpu}, GaugeMerge::kAverage), "cpu"), 200);
}

TEST(MergeTest, AverageKeepsTheTotalWithinHalfAUnit) {
  // 100 stacks of one byte each, seen in one of three readings: a third each, which no row can
  // show, and yet 33 in all.
  std::vector<std::string> names;
  names.reserve(100);
  for (int i = 0; i < 100; ++i) names.push_back("main;f" + std::to_string(i));
  std::vector<test::FoldedStack> stacks;
  stacks.reserve(names.size());
  for (const std::string& name : names) stacks.push_back({name, 1});
  const ProfileBatch heap = batch_from(stacks, "inuse_space", "bytes");
  const ProfileBatch nothing = batch_from({}, "inuse_space", "bytes");
  const ProfileBatch average = merge_all({heap, nothing, nothing}, GaugeMerge::kAverage);
  EXPECT_EQ(total_of_type(average, "inuse_space"), 33);
  EXPECT_EQ(dump(merge_all({nothing, heap, nothing}, GaugeMerge::kAverage)), dump(average));
}

TEST(MergeTest, SumsSaturateInsteadOfOverflowing) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  const ProfileBatch large = batch_from({{"main", kMax}});
  EXPECT_EQ(total_of_type(merge_all({large, large}), "cpu"), kMax);
  const ProfileBatch small = batch_from({{"main", kMin}});
  EXPECT_EQ(total_of_type(merge_all({small, small}), "cpu"), kMin);
}

TEST(MergeTest, ManyProfilesOfDifferentResourcesTakeLinearTime) {
  // With a search through all groups this would take minutes.
  ProfileBatch batch;
  DictionaryBuilder builder(batch.dictionary);
  constexpr size_t kProfiles = 20'000;
  for (size_t i = 0; i < kProfiles; ++i) {
    Profile p;
    const Label label = builder.text_label("pod", std::to_string(i));
    p.resource = builder.label_set(std::span<const Label>(&label, 1));
    p.comments.push_back(builder.string("comment " + std::to_string(i)));
    batch.profiles.push_back(std::move(p));
  }
  EXPECT_EQ(canonicalize(batch).profiles.size(), kProfiles);
  EXPECT_EQ(flatten(batch).profiles[0].comments.size(), kProfiles);
}

}  // namespace
}  // namespace vesta
