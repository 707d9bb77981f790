#include "store/rocksdb/format/stored_totals.h"

#include <gtest/gtest.h>

#include <tuple>

#include "base/time.h"

namespace vesta::rocks {
namespace {

using Entry = std::tuple<int64_t, int64_t, int64_t>;  // time, duration, value

std::vector<Entry> entries_of(const HourTotals& totals) {
  std::vector<Entry> out;
  EXPECT_TRUE(totals.for_each([&](const TimedTotal& total) {
    out.emplace_back(total.time_ns, total.duration_ns, total.value);
  }));
  return out;
}

TEST(StoredTotalsTest, AnHourHasEachProfileAndTheirSum) {
  // One before 1970, too, and the last one that there is.
  for (const int64_t time_ns : {int64_t{1'763'208'000} * kSecond, -5 * kHour + 7,
                                bucket_start_ns(hour_of(INT64_MAX), kHour)}) {
    const Hour hour = hour_of(time_ns);
    const std::string bytes = encode_hour_totals(
        hour,
        {{time_ns, 0, 5}, {time_ns, 3 * kSecond, -7}, {time_ns + kSecond, INT64_MAX, 1'000'000}});
    HourTotals totals;
    ASSERT_TRUE(totals.parse(bytes, hour));
    EXPECT_TRUE(totals.has_durations());
    EXPECT_EQ(totals.summary().profiles, 3U);
    EXPECT_EQ(totals.summary().sum, 999'998);
    EXPECT_EQ(entries_of(totals), (std::vector<Entry>{{time_ns, 0, 5},
                                                      {time_ns, 3 * kSecond, -7},
                                                      {time_ns + kSecond, INT64_MAX, 1'000'000}}));
  }
}

TEST(StoredTotalsTest, TheSummarySaysHowTheProfilesAreSpread) {
  const Hour hour = hour_of(1'763'208'000 * kSecond);
  const int64_t start = bucket_start_ns(hour, kHour);
  const int64_t end = bucket_end_ns(hour, kHour);
  HourTotals totals;
  ASSERT_TRUE(totals.parse(
      encode_hour_totals(hour, {{start + 5, 10, 100}, {start + 15, 10, 100}, {end - 10, 30, 300}}),
      hour));
  EXPECT_TRUE(totals.summary().has_spread);
  EXPECT_EQ(totals.summary().inside, 300);
  EXPECT_EQ(totals.summary().end_ns, end + 20);
  EXPECT_EQ(totals.summary().covered,
            (std::vector<TimeRange>{{start + 5, start + 25}, {end - 10, end + 20}}));
  // Many gaps are left to the profiles.
  std::vector<TimedTotal> gaps;
  for (int64_t i = 0; i < 10; ++i) gaps.push_back({start + 10 * i, 5, 1});
  const std::string many = encode_hour_totals(hour, gaps);
  ASSERT_TRUE(totals.parse(many, hour));
  EXPECT_FALSE(totals.summary().has_spread);
  EXPECT_EQ(totals.summary().sum, 10);
  EXPECT_EQ(entries_of(totals).size(), 10U);
}

TEST(StoredTotalsTest, ADayHasTheSummariesOfItsHours) {
  const Day day = day_of_hour(hour_of(1'763'208'000 * kSecond));
  const Hour first = first_hour_of(day);
  HourTotals one;
  const int64_t start = bucket_start_ns(first + 7, kHour);
  ASSERT_TRUE(one.parse(encode_hour_totals(first + 7, {{start, kHour, INT64_MAX}}), first + 7));
  const std::string bytes = encode_day_totals(
      day, {{.hour = first, .profiles = 3, .sum = -9}, one.summary(), {.hour = first + 23}});
  std::vector<HourSummary> hours;
  ASSERT_TRUE(decode_day_totals(bytes, day, hours));
  ASSERT_EQ(hours.size(), 3U);
  EXPECT_EQ(hours[0].hour, first);
  EXPECT_EQ(hours[0].profiles, 3U);
  EXPECT_EQ(hours[0].sum, -9);
  EXPECT_FALSE(hours[0].has_spread);
  EXPECT_EQ(hours[1].hour, first + 7);
  EXPECT_EQ(hours[1].inside, INT64_MAX);
  EXPECT_EQ(hours[1].covered, (std::vector<TimeRange>{{start, start + kHour}}));
  EXPECT_EQ(hours[2].hour, first + 23);
}

TEST(StoredTotalsTest, WhatTheVersionBeforeWroteHasSumsAlone) {
  const Hour hour = hour_of(1'763'208'000 * kSecond);
  HourTotals totals;
  ASSERT_TRUE(totals.parse(std::string("\1\2\x0a\0\4\1\6", 7), hour));
  EXPECT_FALSE(totals.has_durations());
  EXPECT_FALSE(totals.summary().has_spread);
  EXPECT_EQ(totals.summary().profiles, 2U);
  EXPECT_EQ(totals.summary().sum, 5);
  std::vector<HourSummary> hours;
  ASSERT_TRUE(decode_day_totals(std::string("\1\1\5\2\x0a", 5), day_of_hour(hour), hours));
  ASSERT_EQ(hours.size(), 1U);
  EXPECT_EQ(hours[0].sum, 5);
  EXPECT_FALSE(hours[0].has_spread);
}

TEST(StoredTotalsTest, BytesThatAreCutOrTooManyAreNone) {
  const Hour hour = hour_of(1'763'208'000 * kSecond);
  const int64_t start = bucket_start_ns(hour, kHour);
  const std::string of_hour = encode_hour_totals(hour, {{start + 9, 5, 5}, {start + 10, 6, 300}});
  HourTotals whole;
  ASSERT_TRUE(whole.parse(of_hour, hour));
  const std::string of_day = encode_day_totals(day_of_hour(hour), {whole.summary()});
  const auto is_hour = [&](std::string_view bytes) {
    HourTotals totals;
    return totals.parse(bytes, hour) && totals.for_each([](const TimedTotal&) {});
  };
  std::vector<HourSummary> hours;
  const auto is_day = [&](std::string_view bytes) {
    return decode_day_totals(bytes, day_of_hour(hour), hours);
  };
  EXPECT_TRUE(is_hour(of_hour));
  EXPECT_TRUE(is_day(of_day));
  for (size_t size = 0; size < of_hour.size(); ++size)
    EXPECT_FALSE(is_hour(of_hour.substr(0, size))) << size;
  for (size_t size = 0; size < of_day.size(); ++size)
    EXPECT_FALSE(is_day(of_day.substr(0, size))) << size;
  EXPECT_FALSE(is_hour(of_hour + "x"));
  EXPECT_FALSE(is_day(of_day + "x"));
  EXPECT_FALSE(is_day(std::string("\2\1\x18\1\1\0", 6))) << "there is no hour 24";
  EXPECT_FALSE(is_day(std::string("\3\0", 2))) << "a version that is not known";
}

}  // namespace
}  // namespace vesta::rocks
