#include "query/heatmap.h"

#include <gtest/gtest.h>

#include <random>

#include "base/time.h"
#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"
#include "store/memory/memory_engine.h"

namespace vesta {
namespace {

ProfilePoint point(int64_t time_ns, int64_t duration_ns, int64_t value, int64_t marked = 0) {
  ProfilePoint out;
  out.time_ns = time_ns;
  out.duration_ns = duration_ns;
  out.value = value;
  out.marked = marked;
  return out;
}

TEST(Heatmap, AMinuteOnTwoCoresFillsSixColumnsAtTheHeightOfTwoCores) {
  // Beside it ten seconds at the same speed, and half a minute of one core.
  const std::vector<ProfilePoint> points = {
      point(0, kMinute, 2 * kMinute, kMinute),
      point(kMinute, 10 * kSecond, 20 * kSecond),
      point(20 * kSecond, 30 * kSecond, 30 * kSecond),
  };
  const auto map =
      value_heatmap(points, {{0, 80 * kSecond}, 10 * kSecond, 4}, Temporality::kCumulative);
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->rows_by, Heatmap::Rows::kRate);
  EXPECT_FALSE(map->counts_profiles);
  EXPECT_EQ(map->row_start, 1e9);
  EXPECT_EQ(map->row_size, 0.25e9);
  std::vector<Heatmap::Cell> expected;
  for (uint32_t column = 0; column < 7; ++column) {
    if (column >= 2 && column < 5) expected.push_back({column, 0, 10 * kSecond});
    expected.push_back({column, 3, 20 * kSecond});
  }
  EXPECT_EQ(map->cells, expected);
  ASSERT_EQ(map->matched.size(), 6U);
  for (const Heatmap::Cell& cell : map->matched) EXPECT_EQ(cell.value, 10 * kSecond);
  EXPECT_EQ(map->left_out, 0);
}

TEST(Heatmap, CellsAddUpToTheTotalsOfTheRange) {
  const auto engine = make_memory_engine();
  std::mt19937_64 random(3);
  const auto below = [&](uint64_t most) { return static_cast<int64_t>(random() % most); };
  for (int i = 0; i < 300; ++i) {
    ProfileBatch batch = test::batch_from({{"main;a", below(1'000'003)}, {"main;b", below(17)}});
    DictionaryBuilder builder(batch.dictionary);
    batch.profiles[0].name = builder.string("process_cpu");
    batch.profiles[0].time_ns = below(uint64_t{kHour});
    batch.profiles[0].duration_ns = i % 10 == 0 ? 0 : kMinute + below(uint64_t{kMinute});
    ASSERT_TRUE(engine->write("t", batch, {}).ok());
  }
  const auto type = ProfileType::parse("process_cpu:cpu:nanoseconds::");
  ASSERT_TRUE(type.ok());
  for (const int64_t step : {10 * kSecond, 7 * kMinute}) {
    const TimeRange range{10 * kMinute, 50 * kMinute};
    PointsRequest asked;
    asked.type = *type;
    asked.range = range;
    asked.overlapping = true;
    const auto points = engine->points("t", asked);
    ASSERT_TRUE(points.ok());
    const auto map = value_heatmap(*points, {range, step, 20}, Temporality::kCumulative);
    ASSERT_TRUE(map.ok());
    TotalsRequest charted;
    charted.type = *type;
    charted.range = range;
    charted.step_ns = step;
    const auto totals = engine->totals("t", charted);
    ASSERT_TRUE(totals.ok());
    ASSERT_EQ(totals->size(), 1U);
    int64_t total = 0;
    for (const TotalsPoint& one : (*totals)[0].points) total += one.value;
    int64_t cells = 0;
    for (const Heatmap::Cell& cell : map->cells) cells += cell.value;
    EXPECT_EQ(cells, map->total);
    EXPECT_GT(map->left_out, 0) << "profiles without a duration have no rate";
    EXPECT_EQ(cells + map->left_out, total);
    // What a region holds is what the engine selects for it.
    SelectRequest select;
    select.type = *type;
    for (uint32_t row = 0; row < 20; ++row) {
      const double start = map->row_start + row * map->row_size;
      select.rates = RateRange{start};
      if (row < 19) select.rates->max = map->row_start + (row + 1) * map->row_size;
      select.range = {range.start_ns + 2 * step, range.start_ns + 3 * step};
      const auto selected = engine->select("t", select);
      ASSERT_TRUE(selected.ok());
      int64_t drawn = 0;
      for (const Heatmap::Cell& cell : map->cells)
        if (cell.column == 2 && cell.row == row) drawn += cell.value;
      EXPECT_EQ(selected->front().total, drawn) << "row " << row;
    }
  }
}

TEST(Heatmap, ProfilesWithoutADurationAreShownByTheirValues) {
  const std::vector<ProfilePoint> points = {point(0, 0, 0), point(9, 0, 100), point(25, 0, 49),
                                            point(30, 0, 7)};
  const auto map = value_heatmap(points, {{0, 30}, 10, 4}, Temporality::kCumulative);
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->rows_by, Heatmap::Rows::kValue);
  EXPECT_EQ(map->row_size, 25);
  EXPECT_EQ(map->cells, (std::vector<Heatmap::Cell>{{0, 3, 100}, {2, 1, 49}}));
  EXPECT_EQ(map->total, 149);
}

TEST(Heatmap, GaugesAreCountedByTimeAndValue) {
  const std::vector<ProfilePoint> points = {point(0, 60, 0), point(9, 60, 100, 3),
                                            point(25, 60, 49), point(30, 60, 0), point(-5, 60, 0)};
  const auto map = value_heatmap(points, {{0, 30}, 10, 4}, Temporality::kInstant);
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->rows_by, Heatmap::Rows::kValue);
  EXPECT_TRUE(map->counts_profiles);
  EXPECT_EQ(map->columns, 3U);
  EXPECT_EQ(map->row_size, 25);
  EXPECT_EQ(map->cells, (std::vector<Heatmap::Cell>{{0, 0, 1}, {0, 3, 1}, {2, 1, 1}}));
  EXPECT_EQ(map->matched, (std::vector<Heatmap::Cell>{{0, 3, 1}}));
  EXPECT_EQ(map->total, 3);
}

TEST(Heatmap, RefusesMoreWorkThanIsWorthIt) {
  const std::vector<ProfilePoint> points(6000, point(0, kDay, 1));
  const auto map = value_heatmap(points, {{0, 10'000}, 1, 1}, Temporality::kCumulative);
  ASSERT_FALSE(map.ok());
  EXPECT_EQ(map.error().code, ErrorCode::kLimit);
}

TEST(Heatmap, FindsTheOffsetWithinAColumn) {
  ProfileBatch batch = test::batch_from({{"a", 1}, {"b", 2}, {"c", 4}});
  batch.profiles[0].samples.times_ns = {1'000'000'000, 1'250'000'000, 0};
  const auto map = offset_heatmap(batch, {{1'000'000'000, 3'000'000'000}, 1'000'000'000, 4});
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->cells, (std::vector<Heatmap::Cell>{{0, 0, 1}, {0, 1, 2}}));
  EXPECT_EQ(map->left_out, 4);
}

TEST(Heatmap, RefusesMoreCellsThanFit) {
  EXPECT_FALSE(check_shape({{0, 1'000'000'000}, 1, 10}).ok());
  EXPECT_FALSE(check_shape({kAllTime, 1'000'000'000, 1}).ok());
  EXPECT_FALSE(check_shape({{0, 10}, 0, 10}).ok());
  EXPECT_FALSE(check_shape({{0, 10}, 1, 0}).ok());
  EXPECT_TRUE(check_shape({{0, 10}, 1, 10}).ok());
}

}  // namespace
}  // namespace vesta
