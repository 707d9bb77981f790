#include "profile/profile.h"

#include <gtest/gtest.h>

#include <limits>

#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"

namespace vesta {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(ProfileTest, ArithmeticSaturatesAtBothEnds) {
  EXPECT_EQ(saturating_add(kMax, 1), kMax);
  EXPECT_EQ(saturating_add(kMin, -1), kMin);
  EXPECT_EQ(saturating_add(kMin, kMin), kMin);
  EXPECT_EQ(saturating_add(kMax, kMin), -1);
  EXPECT_EQ(saturating_subtract(0, kMin), kMax);
  EXPECT_EQ(saturating_subtract(kMin, 1), kMin);
  EXPECT_EQ(saturating_subtract(kMax, -1), kMax);
  EXPECT_EQ(saturating_subtract(5, 7), -2);
  EXPECT_EQ(saturating_abs(kMin), kMax);
  EXPECT_EQ(saturating_abs(-3), 3);
}

TEST(ProfileTest, OptionalColumnsComeWithTheFirstValueThatNeedsThem) {
  Profile p;
  p.sample_types.emplace_back();
  const int64_t value = 1;
  const std::span<const int64_t> values(&value, 1);
  p.add_sample(StackId(), values);
  EXPECT_TRUE(p.samples.labels.empty());
  p.add_sample(StackId(), values, LabelSetId(2));
  p.add_sample(StackId(), values, {}, LinkId(3));
  p.add_sample(StackId(), values, {}, {}, 4);
  p.add_sample(StackId(), values);
  EXPECT_EQ(p.samples.labels.size(), 5u);
  EXPECT_EQ(p.samples.links.size(), 5u);
  EXPECT_EQ(p.samples.times_ns.size(), 5u);
  EXPECT_EQ(p.samples.label_set(1), LabelSetId(2));
  EXPECT_EQ(p.samples.link(2), LinkId(3));
  EXPECT_EQ(p.samples.time_ns(3), 4);
  EXPECT_EQ(p.samples.time_ns(4), 0);
}

TEST(ProfileTest, LossesAddUpAndDoNotWrapAround) {
  Profile p;
  p.add_loss(StringId(1), 0);
  EXPECT_TRUE(p.losses.empty());
  p.add_loss(StringId(1), 2);
  p.add_loss(StringId(1), std::numeric_limits<uint64_t>::max());
  ASSERT_EQ(p.losses.size(), 1u);
  EXPECT_EQ(p.losses[0].count, std::numeric_limits<uint64_t>::max());
}

TEST(ProfileTest, HeapSizesAndGoroutinesAreGauges) {
  EXPECT_EQ(temporality_of("inuse_space"), Temporality::kInstant);
  EXPECT_EQ(temporality_of("goroutine"), Temporality::kInstant);
  EXPECT_EQ(temporality_of("alloc_space"), Temporality::kCumulative);
  EXPECT_EQ(temporality_of("cpu"), Temporality::kCumulative);
}

TEST(ProfileTest, KindNamesReadBack) {
  for (int i = 0; i <= static_cast<int>(FrameKind::kLuajit); ++i) {
    const auto kind = static_cast<FrameKind>(i);
    EXPECT_EQ(frame_kind_from_name(frame_kind_name(kind)), kind);
  }
  EXPECT_EQ(frame_kind_from_name("cobol"), FrameKind::kUnknown);
}

// Each damages a sound batch in one way; find_inconsistency must see it.
TEST(ProfileTest, InconsistenciesAreFound) {
  const ProfileBatch sound = test::random_batch(5);
  ASSERT_EQ(find_inconsistency(sound), "");
  const auto damaged = [&](auto&& damage) {
    ProfileBatch batch = sound;
    damage(batch);
    return !find_inconsistency(batch).empty();
  };
  const StringId bad_string(1'000'000);
  EXPECT_TRUE(damaged([&](ProfileBatch& b) { b.dictionary.functions[1].name = bad_string; }));
  EXPECT_TRUE(damaged([&](ProfileBatch& b) { b.dictionary.functions[1].file = bad_string; }));
  EXPECT_TRUE(damaged([&](ProfileBatch& b) { b.dictionary.mappings[1].file = bad_string; }));
  EXPECT_TRUE(damaged([](ProfileBatch& b) { b.dictionary.locations[1].mapping = MappingId(99); }));
  EXPECT_TRUE(damaged([](ProfileBatch& b) { b.dictionary.locations.emplace_back(); }));
  EXPECT_TRUE(damaged([](ProfileBatch& b) {
    const LocationId bad(1'000'000);
    b.dictionary.stacks.add(std::span<const LocationId>(&bad, 1));
  }));
  EXPECT_TRUE(damaged([](ProfileBatch& b) {
    const Line bad{FunctionId(1'000'000), 0, 0};
    b.dictionary.add_location({}, std::span<const Line>(&bad, 1));
  }));
  EXPECT_TRUE(damaged([&](ProfileBatch& b) {
    Label bad;
    bad.key = bad_string;
    b.dictionary.label_sets.add(std::span<const Label>(&bad, 1));
  }));
  EXPECT_TRUE(damaged([&](ProfileBatch& b) { b.profiles[0].name = bad_string; }));
  EXPECT_TRUE(damaged([&](ProfileBatch& b) { b.profiles[0].doc_url = bad_string; }));
  EXPECT_TRUE(damaged([&](ProfileBatch& b) { b.profiles[0].keep_frames = bad_string; }));
  EXPECT_TRUE(damaged([&](ProfileBatch& b) { b.profiles[0].period_type.unit = bad_string; }));
  EXPECT_TRUE(damaged([&](ProfileBatch& b) { b.profiles[0].sample_types[0].unit = bad_string; }));
  EXPECT_TRUE(damaged([&](ProfileBatch& b) { b.profiles[0].comments.push_back(bad_string); }));
  EXPECT_TRUE(damaged([&](ProfileBatch& b) { b.profiles[0].losses.push_back({bad_string, 1}); }));
  EXPECT_TRUE(damaged([](ProfileBatch& b) { b.profiles[0].resource = LabelSetId(9999); }));
  EXPECT_TRUE(damaged([](ProfileBatch& b) { b.profiles[0].default_type = 9; }));
  EXPECT_TRUE(damaged([](ProfileBatch& b) { b.profiles[0].samples.stacks[0] = StackId(9999); }));
  EXPECT_TRUE(damaged([](ProfileBatch& b) { b.profiles[0].samples.labels.emplace_back(); }));
  EXPECT_TRUE(damaged([](ProfileBatch& b) { b.profiles[0].samples.values.pop_back(); }));
}

}  // namespace
}  // namespace vesta
