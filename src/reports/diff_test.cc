#include "reports/diff.h"

#include <gtest/gtest.h>

#include <limits>

#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"

namespace vesta {
namespace {

using test::batch_from;

std::vector<std::string> diff_rows(const FrameProfile& profile, ChangeOrder order) {
  std::vector<std::string> out;
  FunctionTable table = diff_table(profile);
  choose_changes(table, order, 0, 0);
  for (const FunctionRow& row : table.rows) {
    out.push_back(table.names->text(row.name) + " " + std::to_string(row.flat_delta()) + " " +
                  std::to_string(row.cum_delta()));
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
  EXPECT_EQ(diff_rows(*both, ChangeOrder::kFlat),
            (std::vector<std::string>{"fresh 2 2", "a 1 1", "main 0 -8", "gone -4 -4", "b -7 -7"}));
  EXPECT_EQ(diff_rows(*both, ChangeOrder::kCum).back(), "main 0 -8");
}

TEST(DiffTest, AProfileDoesNotDifferFromItself) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const ProfileBatch batch = test::random_batch(seed);
    const auto both = compare_profiles(batch, batch, "cpu", DiffScale::kNormalized, {});
    ASSERT_TRUE(both.ok());
    EXPECT_EQ(both->total, both->baseline_total);
    for (const FunctionRow& row : diff_table(*both).rows) {
      EXPECT_EQ(row.flat_delta(), 0);
      EXPECT_EQ(row.cum_delta(), 0);
    }
  }
}

TEST(DiffTest, NormalizingMakesTotalsEqual) {
  const ProfileBatch before = batch_from({{"main;a", 10}, {"main;b", 90}});
  const ProfileBatch after = batch_from({{"main;a", 400}, {"main;b", 600}});
  const auto both = compare_profiles(before, after, "cpu", DiffScale::kNormalized, {});
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(diff_rows(*both, ChangeOrder::kFlat),
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
  for (const FunctionRow& row : diff_table(*both).rows) EXPECT_EQ(row.cum_delta(), 0);
}

TEST(DiffTest, TellsChangesFromChance) {
  // A clock that ticked every 10: 1000 samples on each side.
  const auto profile = [](int64_t a, int64_t b) {
    ProfileBatch batch = batch_from({{"main;a", a}, {"main;b", b}, {"main;c", 10'000 - a - b}});
    Profile& p = batch.profiles[0];
    DictionaryBuilder builder(batch.dictionary);
    p.period_type = {builder.string("cpu"), builder.string("nanoseconds")};
    p.period = 10;
    return batch;
  };
  const auto both =
      compare_profiles(profile(1000, 1000), profile(3000, 1020), "cpu", DiffScale::kAbsolute, {});
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->samples, 1000U);
  const FunctionTable table = diff_table(*both);
  EXPECT_TRUE(table.tells_chance);
  for (const FunctionRow& row : table.rows) {
    const std::string name = table.names->text(row.name);
    EXPECT_EQ(row.q_value < 0.05, name == "a" || name == "c") << name;
  }
  // Without a period nobody knows how many samples there were.
  const auto unknown = compare_profiles(batch_from({{"a", 1}}), batch_from({{"a", 2}}), "",
                                        DiffScale::kAbsolute, {});
  EXPECT_FALSE(diff_table(*unknown).tells_chance);
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
  EXPECT_EQ(diff_table(*both).rows[0].flat_delta(), kMax);
}

}  // namespace
}  // namespace vesta
