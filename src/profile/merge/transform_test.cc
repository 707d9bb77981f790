#include "profile/merge/transform.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "profile/dictionary_builder.h"
#include "profile/merge/merge.h"
#include "profile/test_profiles.h"

namespace vesta {
namespace {

using test::batch_from;
using test::meaning;
using test::random_batch;
using test::total_of_type;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

uint64_t resets_of(const ProfileBatch& batch) {
  uint64_t resets = 0;
  for (const Profile& p : batch.profiles) {
    for (const Loss& loss : p.losses) {
      if (batch.dictionary.string(loss.reason) == "counter reset") resets += loss.count;
    }
  }
  return resets;
}

ProfileBatch merge_two(const ProfileBatch& a, const ProfileBatch& b) {
  const ProfileBatch* both[] = {&a, &b};
  return merge(both);
}

TEST(DeltaTest, CountersAreSubtractedStackByStack) {
  const ProfileBatch before = batch_from({{"main;a", 10}, {"main;b", 5}}, "alloc_space", "bytes");
  const ProfileBatch after =
      batch_from({{"main;a", 25}, {"main;b", 5}, {"main;c", 3}}, "alloc_space", "bytes");
  const ProfileBatch d = delta(before, after);
  EXPECT_EQ(meaning(d),
            meaning(batch_from({{"main;a", 15}, {"main;c", 3}}, "alloc_space", "bytes")));
  EXPECT_EQ(resets_of(d), 0u);
  EXPECT_EQ(find_inconsistency(d), "");
}

TEST(DeltaTest, NothingHappenedBetweenAReadingAndItself) {
  const ProfileBatch batch = batch_from({{"main;a", 10}, {"main;b", 5}});
  const ProfileBatch d = delta(batch, batch);
  ASSERT_EQ(d.profiles.size(), 1u);
  EXPECT_EQ(d.profiles[0].samples.size(), 0u);
  EXPECT_EQ(resets_of(d), 0u);
  EXPECT_EQ(d.dictionary.stacks.size(), 1u);  // and nothing is left of it
}

TEST(DeltaTest, DeltaFromNothingIsTheReadingItself) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const ProfileBatch batch = random_batch(seed);
    EXPECT_EQ(meaning(delta(ProfileBatch(), batch)), meaning(batch));
  }
}

// What was there plus what happened is what is there now.
TEST(DeltaTest, AddingTheDeltaToTheEarlierReadingGivesTheLater) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    test::RandomOptions options;
    options.profiles = 1;
    ProfileBatch before = random_batch(seed, options);
    for (ProfileBatch* batch : {&before}) {
      for (Profile& p : batch->profiles) {
        for (SampleType& type : p.sample_types) type.temporality = Temporality::kCumulative;
      }
    }
    ProfileBatch growth = random_batch(seed + 1000, options);
    growth.profiles[0].sample_types.clear();
    for (const SampleType& type : before.profiles[0].sample_types) {
      growth.profiles[0].sample_types.push_back(
          {growth.dictionary.strings.intern(before.dictionary.string(type.type)),
           growth.dictionary.strings.intern(before.dictionary.string(type.unit)),
           Temporality::kCumulative});
    }
    growth.profiles[0].samples.values.assign(
        growth.profiles[0].samples.size() * growth.profiles[0].sample_types.size(), 7);
    growth.profiles[0].default_type = 0;
    growth.profiles[0].name =
        growth.dictionary.strings.intern(before.dictionary.string(before.profiles[0].name));
    growth.profiles[0].resource = {};
    before.profiles[0].resource = {};
    const ProfileBatch after = merge_two(before, growth);
    ASSERT_EQ(after.profiles.size(), 1u);
    const ProfileBatch d = delta(before, after);
    EXPECT_EQ(resets_of(d), 0u);
    EXPECT_EQ(meaning(d), meaning(growth));
    EXPECT_EQ(meaning(merge_two(before, d)), meaning(after));
  }
}

TEST(DeltaTest, GaugesKeepTheLaterValue) {
  const ProfileBatch before =
      batch_from({{"main;a", 100}, {"main;gone", 7}}, "inuse_space", "bytes");
  const ProfileBatch after = batch_from({{"main;a", 60}}, "inuse_space", "bytes");
  const ProfileBatch d = delta(before, after);
  EXPECT_EQ(meaning(d), meaning(after));
  EXPECT_EQ(resets_of(d), 0u);
}

TEST(DeltaTest, CountersThatWentDownAreCountedAsReset) {
  const ProfileBatch before = batch_from({{"main;a", 100}, {"main;b", 50}, {"main;c", 1}});
  const ProfileBatch after = batch_from({{"main;a", 30}, {"main;c", 2}});
  const ProfileBatch d = delta(before, after);
  EXPECT_EQ(meaning(d), meaning(batch_from({{"main;a", 30}, {"main;c", 1}})));
  EXPECT_EQ(resets_of(d), 2u);
}

TEST(DeltaTest, SpansTheTimeBetweenTheReadings) {
  ProfileBatch before = batch_from({{"main", 1}});
  ProfileBatch after = batch_from({{"main", 2}});
  before.profiles[0].time_ns = 1000;
  after.profiles[0].time_ns = 1500;
  after.profiles[0].duration_ns = 30;
  const ProfileBatch d = delta(before, after);
  EXPECT_EQ(d.profiles[0].time_ns, 1000);
  EXPECT_EQ(d.profiles[0].duration_ns, 500);
  before.profiles[0].time_ns = 0;
  EXPECT_EQ(delta(before, after).profiles[0].time_ns, 1500);
  EXPECT_EQ(delta(before, after).profiles[0].duration_ns, 30);
}

TEST(DeltaTest, ProcessesOfOneNameAreNotMixedUp) {
  const auto reading = [](int64_t web, int64_t api, int64_t time_ns) {
    ProfileBatch batch = batch_from({{"main", web}});
    DictionaryBuilder b(batch.dictionary);
    batch.profiles.push_back(batch.profiles[0]);
    batch.profiles[1].samples.values[0] = api;
    size_t i = 0;
    for (const std::string_view name : {"web", "api"}) {
      const Label label = b.text_label("service_name", name);
      batch.profiles[i].resource = b.label_set(std::span<const Label>(&label, 1));
      batch.profiles[i].time_ns = time_ns + static_cast<int64_t>(i) * 7;
      ++i;
    }
    return batch;
  };
  const ProfileBatch d = delta(reading(10, 20, 100), reading(11, 25, 200));
  ASSERT_EQ(d.profiles.size(), 2u);
  EXPECT_EQ(total_of(d.profiles[0], 0) + total_of(d.profiles[1], 0), 6);
  EXPECT_EQ(d.profiles[0].time_ns + d.profiles[1].time_ns, 207);
  EXPECT_EQ(d.profiles[0].duration_ns, 100);
}

TEST(DeltaTest, LossesOfTheEarlierReadingAreNotReportedAgain) {
  ProfileBatch before = batch_from({{"main", 1}});
  before.profiles[0].add_loss(before.dictionary.strings.intern("ring full"), 5);
  ProfileBatch after = batch_from({{"main", 2}});
  after.profiles[0].add_loss(after.dictionary.strings.intern("ring full"), 7);
  const ProfileBatch d = delta(before, after);
  ASSERT_EQ(d.profiles[0].losses.size(), 1u);
  EXPECT_EQ(d.profiles[0].losses[0].count, 7u);
}

TEST(DeltaTest, ProfilesThatOnlyTheEarlierReadingHasAreLeftOut) {
  EXPECT_TRUE(delta(batch_from({{"main", 1}}), ProfileBatch()).profiles.empty());
}

TEST(DeltaTest, ExtremesSaturate) {
  const ProfileBatch d = delta(batch_from({{"main", kMin}}), batch_from({{"main", kMax}}));
  EXPECT_EQ(total_of_type(d, "cpu"), kMax);
}

TEST(ScaleTest, TotalStaysWithinHalfAUnit) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    ProfileBatch batch = random_batch(random());
    for (Profile& p : batch.profiles) {
      const double factor = static_cast<double>(random() % 10'000) / 777.0;
      const double exact = static_cast<double>(total_of(p, 0)) * factor;
      scale(p, 0, factor);
      EXPECT_NEAR(static_cast<double>(total_of(p, 0)), exact, 0.5001);
    }
  }
}

TEST(ScaleTest, SmallValuesDoNotVanish) {
  std::vector<std::string> names;
  names.reserve(1000);
  for (int i = 0; i < 1000; ++i) names.push_back("f" + std::to_string(i));
  std::vector<test::FoldedStack> stacks;
  stacks.reserve(names.size());
  for (const std::string& name : names) stacks.push_back({name, 1});
  ProfileBatch batch = batch_from(stacks);
  scale(batch.profiles[0], 0, 0.1);
  EXPECT_EQ(total_of(batch.profiles[0], 0), 100);
}

TEST(ScaleTest, OtherTypesStayAsTheyAre) {
  ProfileBatch batch = random_batch(1);
  Profile p = batch.profiles[0];
  while (p.sample_types.size() != 2) {
    batch = random_batch(batch.dictionary.strings.size());
    p = batch.profiles[0];
  }
  const int64_t other = total_of(p, 1);
  scale(p, 0, 3);
  EXPECT_EQ(total_of(p, 1), other);
}

TEST(ScaleTest, ValuesOutOfRangeSaturateAndDoNotSpillOver) {
  ProfileBatch batch = batch_from({{"a", kMax}, {"b", 1}, {"c", kMin}, {"d", 1}});
  Profile& p = batch.profiles[0];
  scale(p, 0, 4);
  EXPECT_EQ(p.samples.values, (std::vector<int64_t>{kMax, 4, kMin, 4}));
  scale(p, 0, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(p.samples.values, (std::vector<int64_t>{0, 0, 0, 0}));
}

TEST(RetainTest, KeepsAllColumnsOfTheRowsThatStay) {
  Profile p = random_batch(2).profiles[0];
  const Profile before = p;
  retain_samples(p, [](size_t row) { return row % 3 == 0; });
  for (size_t row = 0; row < p.samples.size(); ++row) {
    EXPECT_EQ(p.samples.stacks[row], before.samples.stacks[row * 3]);
    EXPECT_EQ(p.samples.label_set(row), before.samples.label_set(row * 3));
    EXPECT_EQ(p.samples.link(row), before.samples.link(row * 3));
    EXPECT_EQ(p.samples.time_ns(row), before.samples.time_ns(row * 3));
    EXPECT_TRUE(std::ranges::equal(p.values(row), before.values(row * 3)));
  }
}

TEST(OnlyTypeTest, KeepsTheColumnAndItsTotalAndNothingElse) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const ProfileBatch batch = test::random_batch(seed);
    for (const TypeInfo& type : list_types(batch)) {
      const ProfileBatch one = only_type(batch, type);
      EXPECT_EQ(find_inconsistency(one), "");
      const std::vector<TypeInfo> left = list_types(one);
      ASSERT_EQ(left.size(), 1u);
      EXPECT_EQ(left[0].id(), type.id());
      EXPECT_EQ(left[0].total, type.total);
      for (const Profile& p : one.profiles) {
        for (const int64_t value : p.samples.values) EXPECT_NE(value, 0);
      }
    }
  }
}

TEST(OnlyTypeTest, ATypeThatIsNotThereLeavesNothing) {
  TypeInfo none;
  none.type = "no such type";
  EXPECT_TRUE(only_type(batch_from({{"main", 1}}), none).profiles.empty());
}

}  // namespace
}  // namespace vesta
