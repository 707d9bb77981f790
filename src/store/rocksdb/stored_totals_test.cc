#include "store/rocksdb/stored_totals.h"

#include <gtest/gtest.h>

#include <utility>

namespace vesta::rocks {
namespace {

std::vector<std::pair<int64_t, int64_t>> entries_of(const HourTotals& totals) {
  std::vector<std::pair<int64_t, int64_t>> out;
  EXPECT_TRUE(
      totals.for_each([&](int64_t time_ns, int64_t value) { out.emplace_back(time_ns, value); }));
  return out;
}

TEST(StoredTotalsTest, AnHourHasEachProfileAndTheirSum) {
  // One before 1970, too, and the last one that there is.
  for (const int64_t time_ns : {int64_t{1'763'208'000} * kSecondNs, -5 * kHourNs + 7,
                                bucket_start_ns(hour_of(INT64_MAX), kHourNs)}) {
    const Hour hour = hour_of(time_ns);
    const std::string bytes =
        encode_hour_totals(hour, {{time_ns, 5}, {time_ns, -7}, {time_ns + kSecondNs, 1'000'000}});
    HourTotals totals;
    ASSERT_TRUE(totals.parse(bytes, hour));
    EXPECT_EQ(totals.sum().profiles, 3U);
    EXPECT_EQ(totals.sum().sum, 999'998);
    EXPECT_EQ(entries_of(totals),
              (std::vector<std::pair<int64_t, int64_t>>{
                  {time_ns, 5}, {time_ns, -7}, {time_ns + kSecondNs, 1'000'000}}));
  }
}

TEST(StoredTotalsTest, ADayHasTheSumsOfItsHours) {
  const Day day = day_of_hour(hour_of(1'763'208'000 * kSecondNs));
  const Hour first = first_hour_of(day);
  const std::string bytes =
      encode_day_totals(day, {{first, {3, -9}}, {first + 7, {1, INT64_MAX}}, {first + 23, {2, 0}}});
  std::vector<HourSum> hours;
  ASSERT_TRUE(decode_day_totals(bytes, day, hours));
  ASSERT_EQ(hours.size(), 3U);
  EXPECT_EQ(hours[0].hour, first);
  EXPECT_EQ(hours[0].sum.profiles, 3U);
  EXPECT_EQ(hours[0].sum.sum, -9);
  EXPECT_EQ(hours[1].hour, first + 7);
  EXPECT_EQ(hours[1].sum.sum, INT64_MAX);
  EXPECT_EQ(hours[2].hour, first + 23);
}

TEST(StoredTotalsTest, BytesThatAreCutOrTooManyAreNone) {
  const Hour hour = hour_of(1'763'208'000 * kSecondNs);
  const int64_t start = bucket_start_ns(hour, kHourNs);
  const std::string of_hour = encode_hour_totals(hour, {{start + 9, 5}, {start + 10, 300}});
  const std::string of_day = encode_day_totals(day_of_hour(hour), {{hour, {2, 305}}});
  const auto is_hour = [&](std::string_view bytes) {
    HourTotals totals;
    return totals.parse(bytes, hour) && totals.for_each([](int64_t, int64_t) {});
  };
  std::vector<HourSum> hours;
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
  EXPECT_FALSE(is_day(std::string("\1\1\x18\1\1", 5))) << "there is no hour 24";
}

}  // namespace
}  // namespace vesta::rocks
