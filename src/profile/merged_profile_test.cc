// Choosing a type, comparing two profiles, and what labels there are.
#include "profile/merged_profile.h"

#include <gtest/gtest.h>

#include <limits>

#include "profile/dictionary_builder.h"
#include "profile/diff.h"
#include "profile/label_summary.h"
#include "profile/test_profiles.h"

namespace vesta {
namespace {

using test::batch_from;

// One profile per word "family/type/unit".
ProfileBatch with_types(const std::vector<std::array<std::string_view, 3>>& types) {
  ProfileBatch batch;
  DictionaryBuilder b(batch.dictionary);
  const int64_t value = 1;
  for (const auto& [family, type, unit] : types) {
    Profile p;
    p.name = b.string(family);
    p.sample_types.push_back({b.string(type), b.string(unit)});
    p.add_sample({}, std::span<const int64_t>(&value, 1));
    batch.profiles.push_back(std::move(p));
  }
  return batch;
}

std::string found(const ProfileBatch& batch, std::string_view word) {
  const auto type = find_type(list_types(batch), word);
  return type.ok() ? type->name + "/" + type->type : "error: " + type.error().hint;
}

TEST(TypesTest, EachTypeIsListedOnceWithItsTotal) {
  const ProfileBatch batch = with_types(
      {{"p", "cpu", "nanoseconds"}, {"p", "cpu", "nanoseconds"}, {"q", "cpu", "nanoseconds"}});
  const auto types = list_types(batch);
  ASSERT_EQ(types.size(), 2u);
  EXPECT_EQ(types[0].total, 2);
  EXPECT_TRUE(types[0].is_default);
  EXPECT_EQ(types[1].total, 1);
  EXPECT_FALSE(types[1].is_default);
  EXPECT_EQ(types[0].id(), "p:cpu:nanoseconds::");
}

TEST(TypesTest, ATypeIsFoundByWhateverAPersonCallsIt) {
  const ProfileBatch batch = with_types({{"memory", "inuse_space", "bytes"},
                                         {"memory", "alloc_space", "bytes"},
                                         {"block", "delay", "nanoseconds"},
                                         {"mutex", "delay", "nanoseconds"},
                                         {"process_cpu", "cpu", "nanoseconds"}});
  EXPECT_EQ(found(batch, ""), "memory/inuse_space");
  EXPECT_EQ(found(batch, "alloc_space"), "memory/alloc_space");
  EXPECT_EQ(found(batch, "alloc_space:bytes"), "memory/alloc_space");
  EXPECT_EQ(found(batch, "memory:alloc_space:bytes::"), "memory/alloc_space");
  EXPECT_EQ(found(batch, "process_cpu:cpu"), "process_cpu/cpu");
  EXPECT_EQ(found(batch, "alloc"), "memory/alloc_space");
  EXPECT_EQ(found(batch, "inuse"), "memory/inuse_space");
  EXPECT_EQ(found(batch, "mutex"), "mutex/delay");
  EXPECT_EQ(found(batch, "block"), "block/delay");
}

TEST(TypesTest, ADefaultWithoutValuesGivesWayToATypeThatHasSome) {
  ProfileBatch batch = test::batch_from({{"a", 3}}, "alloc_objects", "count");
  DictionaryBuilder b(batch.dictionary);
  Profile& profile = batch.profiles[0];
  for (const auto* type : {"alloc_space", "inuse_space"})
    profile.sample_types.push_back({b.string(type), b.string("bytes"), Temporality::kCumulative});
  profile.default_type = 2;
  profile.samples.values = {3, 24, 0};
  EXPECT_EQ(find_type(list_types(batch), "")->type, "alloc_space");  // the same unit
  profile.samples.values = {3, 0, 0};
  EXPECT_EQ(find_type(list_types(batch), "")->type, "alloc_objects");
  profile.samples.values = {0, 0, 0};
  EXPECT_EQ(find_type(list_types(batch), "")->type, "inuse_space");
  profile.samples.values = {3, 24, 8};
  EXPECT_EQ(find_type(list_types(batch), "")->type, "inuse_space");
}

TEST(TypesTest, TheErrorSaysWhatThereIs) {
  const ProfileBatch batch = with_types({{"", "off_cpu", "nanoseconds"}, {"", "cpu", "count"}});
  EXPECT_EQ(found(batch, "cpuu"), "error: did you mean 'cpu'? there is: off_cpu, cpu");
  EXPECT_EQ(find_type({}, "cpu").error().code, ErrorCode::kNoData);
}

TEST(TypesTest, VeryManyTypesAreHandledInLittleTime) {
  ProfileBatch batch;
  DictionaryBuilder b(batch.dictionary);
  for (int i = 0; i < 30'000; ++i) {
    Profile p;
    p.sample_types.push_back({b.string("type" + std::to_string(i)), b.string("count")});
    batch.profiles.push_back(std::move(p));
  }
  EXPECT_EQ(list_types(batch).size(), 30'000u);
  EXPECT_LT(found(batch, "?").size(), 500u);
}

TEST(SelectTest, TakesTheTypeFromAllProfilesThatHaveIt) {
  ProfileBatch batch = batch_from({{"main", 5}});
  batch.profiles.push_back(batch.profiles[0]);
  batch.profiles[1].time_ns = 50;
  batch.profiles[1].add_loss(batch.dictionary.strings.intern("ring full"), 2);
  const MergedProfile profile = test::merged(batch);
  EXPECT_EQ(profile.samples.size(), 2u);
  EXPECT_EQ(total_of(profile), 10);
  EXPECT_EQ(profile.time_ns, 50);
  ASSERT_EQ(profile.losses.size(), 1u);
  EXPECT_EQ(profile.losses[0].count, 2u);
}

TEST(SelectTest, TotalsOfExtremesSaturate) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(total_of(test::merged(batch_from({{"a", kMin}, {"b", kMin}}))),
            std::numeric_limits<int64_t>::max());
}

std::vector<std::string> diff_rows(const FrameProfile& profile, TopOrder order) {
  std::vector<std::string> out;
  for (const DiffRow& row : diff_table(profile, order)) {
    out.push_back(display_name(profile, row.top.frame) + " " + std::to_string(row.flat_delta) +
                  " " + std::to_string(row.cum_delta));
  }
  return out;
}

TEST(DiffTest, WhatGrewComesFirstAndWhatShrankLast) {
  const ProfileBatch before = batch_from({{"main;a", 10}, {"main;b", 10}, {"main;gone", 4}});
  const ProfileBatch after = batch_from({{"main;a", 11}, {"main;b", 3}, {"main;fresh", 2}});
  const auto both = compare_profiles(before, after, "", DiffScale::kAbsolute, {});
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->total, 16);
  EXPECT_EQ(both->baseline_total, 24);
  EXPECT_EQ(diff_rows(*both, TopOrder::kByFlat),
            (std::vector<std::string>{"fresh 2 2", "a 1 1", "main 0 -8", "gone -4 -4", "b -7 -7"}));
  EXPECT_EQ(diff_rows(*both, TopOrder::kByCum).back(), "main 0 -8");
}

TEST(DiffTest, AProfileDoesNotDifferFromItself) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const ProfileBatch batch = test::random_batch(seed);
    const auto both = compare_profiles(batch, batch, "cpu", DiffScale::kNormalized, {});
    ASSERT_TRUE(both.ok());
    EXPECT_EQ(both->total, both->baseline_total);
    for (const DiffRow& row : diff_table(*both, TopOrder::kByFlat)) {
      EXPECT_EQ(row.flat_delta, 0);
      EXPECT_EQ(row.cum_delta, 0);
    }
  }
}

TEST(DiffTest, NormalizingMakesTotalsEqual) {
  const ProfileBatch before = batch_from({{"main;a", 10}, {"main;b", 90}});
  const ProfileBatch after = batch_from({{"main;a", 400}, {"main;b", 600}});
  const auto both = compare_profiles(before, after, "cpu", DiffScale::kNormalized, {});
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(diff_rows(*both, TopOrder::kByFlat),
            (std::vector<std::string>{"a 30 30", "main 0 0", "b -30 -30"}));
}

TEST(DiffTest, ProfilesAtDifferentAddressesCompare) {
  const ProfileBatch a = test::random_batch(1);
  ProfileBatch b = a;
  for (size_t i = 1; i < b.dictionary.mappings.size(); ++i) {
    b.dictionary.mappings[i].start += 0x1000000;
    b.dictionary.mappings[i].limit += 0x1000000;
  }
  for (Location& l : b.dictionary.locations) {
    if (l.mapping) l.address += 0x1000000;
  }
  const auto both =
      compare_profiles(a, b, "cpu", DiffScale::kAbsolute, {Granularity::kAddress, {}});
  ASSERT_TRUE(both.ok());
  for (const DiffRow& row : diff_table(*both, TopOrder::kByFlat)) EXPECT_EQ(row.cum_delta, 0);
}

TEST(DiffTest, DifferentUnitsDoNotCompare) {
  const auto result =
      compare_profiles(batch_from({{"a", 1}}, "cpu", "nanoseconds"),
                       batch_from({{"a", 1}}, "cpu", "count"), "", DiffScale::kAbsolute, {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kUsage);
}

TEST(DiffTest, ExtremesSaturate) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  const auto both = compare_profiles(batch_from({{"a", kMin}}), batch_from({{"a", kMax}}), "",
                                     DiffScale::kAbsolute, {});
  EXPECT_EQ(diff_table(*both, TopOrder::kByFlat)[0].flat_delta, kMax);
}

TEST(LabelSummaryTest, WeightsAddUpPerValue) {
  const auto keys = summarize_labels(test::merged(batch_from({{"a", 5, {{"thread", "x"}}},
                                                              {"b", 7, {{"thread", "y"}}},
                                                              {"c", 1, {{"thread", "x"}}},
                                                              {"d", 9}})));
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys[0].key, "thread");
  EXPECT_EQ(keys[0].weight, 13);
  ASSERT_EQ(keys[0].values.size(), 2u);
  EXPECT_EQ(keys[0].values[0].value, "y");
  EXPECT_EQ(keys[0].values[0].weight, 7);
  EXPECT_EQ(keys[0].values[1].weight, 6);
}

TEST(LabelSummaryTest, ASampleWithTwoValuesCountsOnceUnderTheKey) {
  const auto keys =
      summarize_labels(test::merged(batch_from({{"a", 5, {{"tag", "x"}, {"tag", "y"}}}})));
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys[0].weight, 5);
  EXPECT_EQ(keys[0].values.size(), 2u);
}

TEST(LabelSummaryTest, ResourcesCountUnlessTheSampleSaysOtherwise) {
  ProfileBatch batch = batch_from({{"a", 5, {{"service_name", "own"}}}, {"b", 7}});
  DictionaryBuilder b(batch.dictionary);
  const Label resource = b.text_label("service_name", "web");
  batch.profiles[0].resource = b.label_set(std::span<const Label>(&resource, 1));
  const auto keys = summarize_labels(test::merged(batch));
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys[0].weight, 12);
  ASSERT_EQ(keys[0].values.size(), 2u);
  EXPECT_EQ(keys[0].values[0].value, "web");
  EXPECT_EQ(keys[0].values[0].weight, 7);
}

TEST(LabelSummaryTest, NumbersAreShownWithTheirUnit) {
  Dictionary d;
  DictionaryBuilder b(d);
  EXPECT_EQ(label_text(d, b.number_label("id", 2048)), "2048");
  EXPECT_EQ(label_text(d, b.number_label("size", 2048, "bytes")), "2kB");
}

}  // namespace
}  // namespace vesta
