#include "store/time_cover.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace vesta {
namespace {

TimeCover cover_of(const std::vector<TimeRange>& ranges) {
  TimeCover cover;
  for (const TimeRange& range : ranges) cover.add(range);
  return cover;
}

TEST(TimeCoverTest, WhatOverlapsOrTouchesIsOne) {
  EXPECT_EQ(cover_of({{0, 10}, {10, 20}, {30, 40}, {35, 50}, {60, 60}}).ranges(),
            (std::vector<TimeRange>{{0, 20}, {30, 50}}));
  EXPECT_EQ(cover_of({{30, 40}, {0, 10}, {5, 31}}).ranges(), (std::vector<TimeRange>{{0, 40}}));
  EXPECT_EQ(cover_of({{0, 10}, {20, 30}}).length_ns(), 20);
  EXPECT_EQ(cover_of({kAllTime}).length_ns(), INT64_MAX);
}

TEST(TimeCoverTest, IsTheSetOfTimesInWhateverOrderTheyCome) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    std::set<int64_t> times;
    TimeCover one;
    TimeCover parts[3];
    for (int i = 0; i < 20; ++i) {
      const auto start = static_cast<int64_t>(random() % 200);
      const auto end = start + static_cast<int64_t>(random() % 12);
      for (int64_t at = start; at < end; ++at) times.insert(at);
      one.add({start, end});
      parts[random() % 3].add({start, end});
    }
    TimeCover both;
    for (const TimeCover& part : parts) both.add(part);
    EXPECT_EQ(one.ranges(), both.ranges());
    EXPECT_EQ(one.length_ns(), static_cast<int64_t>(times.size()));
    CoverCursor cursor(one);
    for (int64_t at = 0; at < 220;) {
      const int64_t end = at + 1 + static_cast<int64_t>(random() % 30);
      EXPECT_EQ(cursor.length_in({at, end}),
                std::distance(times.lower_bound(at), times.lower_bound(end)));
      at = end;
    }
  }
}

}  // namespace
}  // namespace vesta
