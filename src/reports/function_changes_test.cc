#include "reports/function_changes.h"

#include <gtest/gtest.h>

#include <map>

#include "profile/test_profiles.h"
#include "reports/test_selection.h"

namespace vesta {
namespace {

Selection selection_of(const std::vector<test::FoldedStack>& stacks, int64_t period) {
  ProfileBatch batch = test::batch_from(stacks);
  Selection selection = test::selection_from(batch);
  selection.type = {"process_cpu", "cpu", "nanoseconds", "cpu", "nanoseconds"};
  selection.period = period;
  return selection;
}

std::map<std::string, FunctionRow> by_name(const FunctionTable& table) {
  std::map<std::string, FunctionRow> out;
  for (const FunctionRow& row : table.rows) out[table.names->text(row.name)] = row;
  return out;
}

FunctionTable compare(const Selection& before, const Selection& after, CompareScale scale) {
  FunctionTable table = function_table(build_flame_tree(before, after, scale, {}));
  test_changes(table, compared_samples(before, after));
  return table;
}

TEST(FunctionChanges, AreNamedAfterWhatHappened) {
  const Selection before = selection_of({{"main;a", 5}, {"main;b", 5}, {"main;gone", 1}}, 0);
  const Selection after = selection_of({{"main;a", 5}, {"main;b", 4}, {"main;new", 1}}, 0);
  FunctionTable table = compare(before, after, CompareScale::kAbsolute);
  auto rows = by_name(table);
  EXPECT_EQ(change_word(change_of(rows["a"])), "same");
  EXPECT_EQ(change_word(change_of(rows["b"])), "changed");
  EXPECT_EQ(change_word(change_of(rows["gone"])), "removed");
  EXPECT_EQ(change_word(change_of(rows["new"])), "new");
  FunctionTable all = table;
  keep_changes(all, "all");
  EXPECT_EQ(all.rows.size(), 5U);
  keep_changes(table, "new");
  EXPECT_EQ(table.rows.size(), 1U);
}

TEST(FunctionChanges, AreTestedOnSamplesWhateverTheScale) {
  // Twice as long after, so twice the samples; the share of `work` doubles.
  const Selection before = selection_of({{"main;work", 1000}, {"main;rest", 9000}}, 10);
  const Selection after = selection_of({{"main;work", 4000}, {"main;rest", 16'000}}, 10);
  const ComparedSamples samples = compared_samples(before, after);
  EXPECT_EQ(samples.before, 1000U);
  EXPECT_EQ(samples.after, 2000U);
  auto absolute = by_name(compare(before, after, CompareScale::kAbsolute));
  auto normalized = by_name(compare(before, after, CompareScale::kNormalized));
  EXPECT_LT(absolute["work"].q_value, 1e-6);
  EXPECT_NEAR(normalized["work"].p_value, absolute["work"].p_value, 1e-15);
  EXPECT_EQ(absolute["main"].p_value, 1);
  EXPECT_EQ(absolute["main"].q_value, 1);
}

TEST(FunctionChanges, OfRatesAreTestedByTheTimeThatWasWatched) {
  // 28 % more of everything: no share changes.
  const Selection before = selection_of({{"main;work", 10'000}, {"main;rest", 10'000}}, 10);
  const Selection after = selection_of({{"main;work", 12'800}, {"main;rest", 12'800}}, 10);
  FunctionTable table =
      function_table(build_flame_tree(before, after, CompareScale::kAbsolute, {}));
  ComparedSamples samples = compared_samples(before, after);
  test_changes(table, samples);
  EXPECT_GT(by_name(table)["work"].q_value, 0.5);
  samples.before_ns = samples.after_ns = 60'000'000'000;
  test_changes(table, samples);
  EXPECT_LT(by_name(table)["work"].q_value, 1e-4);
  // The same in a time that is 28 % longer is no change of rate.
  samples.after_ns = 76'800'000'000;
  test_changes(table, samples);
  EXPECT_GT(by_name(table)["work"].q_value, 0.5);
}

TEST(FunctionChanges, OfAFunctionsOwnWeightShowThoughItsSumStays) {
  const Selection before = selection_of({{"main;f", 4000}, {"main;f;g", 1000}}, 10);
  const Selection after = selection_of({{"main;f", 1000}, {"main;f;g", 4000}}, 10);
  auto rows = by_name(compare(before, after, CompareScale::kAbsolute));
  EXPECT_LT(rows["f"].q_value, 1e-6);
  EXPECT_EQ(rows["main"].p_value, 1);
}

TEST(FunctionChanges, OfAFewSamplesAreChance) {
  const Selection before = selection_of({{"main;a", 30}, {"main;b", 970}}, 10);
  const Selection after = selection_of({{"main;a", 80}, {"main;b", 920}}, 10);
  auto rows = by_name(compare(before, after, CompareScale::kAbsolute));
  EXPECT_GT(rows["a"].q_value, 0.05);
}

TEST(FunctionChanges, AreNotTestedWithoutAPeriod) {
  const Selection before = selection_of({{"main;a", 10}, {"main;b", 990'000}}, 0);
  const Selection after = selection_of({{"main;a", 900'000}, {"main;b", 10}}, 10);
  EXPECT_FALSE(compared_samples(before, after).known());
  FunctionTable table = compare(before, after, CompareScale::kAbsolute);
  keep_changes(table, "significant");
  EXPECT_TRUE(table.rows.empty());
}

}  // namespace
}  // namespace vesta
