// Choosing a type, and its samples.
#include "profile/merged_profile.h"

#include <gtest/gtest.h>

#include <limits>

#include "profile/dictionary_builder.h"
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
  EXPECT_EQ(found(batch, "cpuu"), "error: did you mean 'cpu'? available: off_cpu, cpu");
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

}  // namespace
}  // namespace vesta
