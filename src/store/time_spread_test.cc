#include "store/time_spread.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/time.h"

namespace vesta {
namespace {

std::map<uint64_t, int64_t> spread(const StepGrid& grid, int64_t time_ns, int64_t duration_ns,
                                   int64_t value) {
  std::map<uint64_t, int64_t> parts;
  grid.spread(time_ns, duration_ns, value, [&](uint64_t number, int64_t part) {
    EXPECT_TRUE(parts.emplace(number, part).second) << "each step once";
  });
  return parts;
}

TEST(TimeSpreadTest, AMinuteOnTwoCoresIsTwoCoresInEachTenSeconds) {
  const StepGrid grid({0, 120 * kSecond}, 10 * kSecond);
  EXPECT_EQ(spread(grid, 5 * kSecond, 60 * kSecond, 120 * kSecond),
            (std::map<uint64_t, int64_t>{{0, 10 * kSecond},
                                         {1, 20 * kSecond},
                                         {2, 20 * kSecond},
                                         {3, 20 * kSecond},
                                         {4, 20 * kSecond},
                                         {5, 20 * kSecond},
                                         {6, 10 * kSecond}}));
}

TEST(TimeSpreadTest, OnlyWhatLiesInTheRangeCounts) {
  const StepGrid grid({100, 200}, 30);
  EXPECT_EQ(spread(grid, 80, 40, 400), (std::map<uint64_t, int64_t>{{0, 200}}));
  EXPECT_EQ(spread(grid, 180, 40, 400), (std::map<uint64_t, int64_t>{{2, 100}, {3, 100}}));
  EXPECT_EQ(spread(grid, 60, 40, 400), (std::map<uint64_t, int64_t>{}));
  EXPECT_EQ(spread(grid, 200, 40, 400), (std::map<uint64_t, int64_t>{}));
  EXPECT_EQ(spread(grid, 99, 0, 7), (std::map<uint64_t, int64_t>{}));
  EXPECT_EQ(spread(grid, 130, 0, 7), (std::map<uint64_t, int64_t>{{1, 7}}));
  EXPECT_EQ(spread(grid, 130, -5, 7), (std::map<uint64_t, int64_t>{{1, 7}}));
}

TEST(TimeSpreadTest, PartsAddUpToTheWholeHoweverTheyAreCut) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    const auto in = [&](uint64_t limit) { return static_cast<int64_t>(random() % limit); };
    const int64_t time = in(1000) - 500;
    const int64_t duration = in(900);
    const int64_t value = in(100'000) - 50'000;
    const StepGrid fine({-1000, 2000}, 1 + in(50));
    const StepGrid coarse({-1000, 2000}, 1 + in(3000));
    for (const StepGrid& grid : {fine, coarse}) {
      int64_t sum = 0;
      for (const auto& [number, part] : spread(grid, time, duration, value)) sum += part;
      EXPECT_EQ(sum, value);
    }
    // Cut anywhere, both sides add up to the whole: what roll-ups by the hour rest on.
    if (duration == 0) continue;
    const TimeRange whole = spread_range(time, duration);
    const int64_t cut = time + in(static_cast<uint64_t>(duration));
    EXPECT_EQ(part_of(value, whole, {INT64_MIN, cut}) + part_of(value, whole, {cut, INT64_MAX}),
              value);
  }
}

TEST(TimeSpreadTest, NothingOverflowsAtTheEndsOfTime) {
  const StepGrid all(kAllTime, INT64_MAX);
  for (const int64_t time : {INT64_MIN, int64_t{0}, INT64_MAX - 5}) {
    for (const int64_t value : {INT64_MIN, INT64_MAX}) {
      int64_t sum = 0;
      for (const auto& [number, part] : spread(all, time, INT64_MAX, value)) sum += part;
      EXPECT_EQ(sum, value) << time;
    }
  }
  EXPECT_EQ(spread_range(0, INT64_MAX).end_ns, kMostSpreadNs);
}

TEST(TimeSpreadTest, ARateIsWhatASecondHas) {
  EXPECT_EQ(rate_of(120 * kSecond, 60 * kSecond), 2.0 * kSecond);
  EXPECT_EQ(rate_of(-10, kSecond / 2), -20.0);
  EXPECT_EQ(rate_of(86'400, 3 * kDay), 1.0) << "more than a day is not spread";
  EXPECT_EQ(rate_of(1, 0), std::nullopt);
  EXPECT_EQ(rate_of(1, -5), std::nullopt);
}

TEST(TimeSpreadTest, ACutKeepsTheSumOfTheSamples) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i) {
    const int64_t duration = 1 + static_cast<int64_t>(random() % 1000);
    std::vector<int64_t> values(random() % 20);
    int64_t total = 0;
    for (int64_t& value : values) total += value = static_cast<int64_t>(random() % 5) - 1;
    SelectRequest request;
    request.rates = RateRange{};
    request.type.sample_type = "cpu";
    std::vector<int64_t> sums(values.size());
    int64_t at = -50;
    while (at < duration) {  // parts side by side, the first of which begins before the profile
      const int64_t next = at + 1 + static_cast<int64_t>(random() % 300);
      request.range = {at, next};
      at = next;
      ProfileCut cut(request);
      if (!cut.begin(0, duration, total)) continue;
      int64_t part = 0;
      for (size_t row = 0; row < values.size(); ++row) {
        const int64_t value = cut(values[row]);
        sums[row] += value;
        part += value;
      }
      EXPECT_EQ(part, part_of(total, {0, duration}, request.range));
    }
    EXPECT_EQ(sums, values) << "over all parts, each sample is what it was";
  }
}

}  // namespace
}  // namespace vesta
