#include "symbols/dwarf/interval_map.h"

#include <gtest/gtest.h>

#include <random>

namespace vesta {
namespace {

TEST(IntervalMap, DeeperWinsAndTheOuterGoesOn) {
  const IntervalMap map = IntervalMap::build(
      {{10, 100, 1, 1}, {20, 40, 2, 2}, {20, 30, 3, 3}, {40, 50, 4, 2}, {100, 110, 5, 1}});
  EXPECT_EQ(map.find(9), 0U);
  EXPECT_EQ(map.find(10), 1U);
  EXPECT_EQ(map.find(20), 3U);
  EXPECT_EQ(map.find(30), 2U);
  EXPECT_EQ(map.find(40), 4U);
  EXPECT_EQ(map.find(50), 1U);
  EXPECT_EQ(map.find(100), 5U);
  EXPECT_EQ(map.find(110), 0U);
}

TEST(IntervalMap, EmptyIntervalsCoverNothing) {
  const IntervalMap map = IntervalMap::build({{10, 10, 1, 1}, {20, 5, 2, 1}});
  EXPECT_EQ(map.size(), 0U);
  EXPECT_EQ(map.find(10), 0U);
}

TEST(IntervalMap, AgreesWithPlainSearchOnAnyOverlap) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Interval> intervals;
    for (uint32_t i = 1; i <= 20; ++i) {
      const auto start = static_cast<uint32_t>(random() % 200);
      const auto size = static_cast<uint32_t>(random() % 60);
      intervals.push_back({start, start + size, i, i});
    }
    const IntervalMap map = IntervalMap::build(intervals);
    for (uint32_t address = 0; address < 300; ++address) {
      const Interval* best = nullptr;
      for (const Interval& interval : intervals) {
        if (address < interval.start || address >= interval.end) continue;
        if (best == nullptr ||
            std::tuple(interval.start, interval.depth) > std::tuple(best->start, best->depth)) {
          best = &interval;
        }
      }
      ASSERT_EQ(map.find(address), best == nullptr ? 0 : best->value) << address;
    }
  }
}

}  // namespace
}  // namespace vesta
