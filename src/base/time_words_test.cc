#include "base/time_words.h"

#include <gtest/gtest.h>

#include "base/time.h"

namespace vesta {
namespace {

constexpr int64_t kNow = 1'763'208'000 * kSecond + 5;  // 2025-11-15T12:00:00.000000005Z

int64_t time_of(std::string_view text) {
  const auto time = parse_time_word(text, kNow, "from");
  EXPECT_TRUE(time.ok()) << text;
  return time.ok() ? *time : -1;
}

TEST(TimeWords, AreRelativeToNow) {
  EXPECT_EQ(time_of("now"), kNow);
  EXPECT_EQ(time_of("-1h"), kNow - 3600 * kSecond);
  EXPECT_EQ(time_of("now-30m"), kNow - 1800 * kSecond);
  EXPECT_EQ(time_of("now-30min"), kNow - 1800 * kSecond);
  EXPECT_EQ(time_of("now+1d2h"), kNow + 26 * 3600 * kSecond);
  EXPECT_EQ(time_of("-1w"), kNow - 7 * 86'400 * kSecond);
  EXPECT_EQ(time_of("-1M"), kNow - 30 * 86'400 * kSecond);
  EXPECT_EQ(time_of("-2mon"), kNow - 60 * 86'400 * kSecond);
  EXPECT_EQ(time_of("-1y"), kNow - 365 * 86'400 * kSecond);
  EXPECT_EQ(time_of("-250ms"), kNow - 250'000'000);
  EXPECT_EQ(time_of("-90sec"), kNow - 90 * kSecond);
  EXPECT_EQ(time_of("-1.5h"), kNow - 5400 * kSecond);
  EXPECT_EQ(time_of("-290y"), kNow - int64_t{290} * 365 * 86'400 * kSecond);
}

TEST(TimeWords, TellUnitsOfNumbersByTheirLength) {
  EXPECT_EQ(time_of("1763208000"), 1'763'208'000 * kSecond);
  EXPECT_EQ(time_of("1763208000123"), 1'763'208'000'123'000'000);
  EXPECT_EQ(time_of("1763208000123456"), 1'763'208'000'123'456'000);
  EXPECT_EQ(time_of("1763208000123456789"), 1'763'208'000'123'456'789);
  EXPECT_EQ(time_of("1763208000.5"), 1'763'208'000 * kSecond + kSecond / 2);
  EXPECT_EQ(time_of("20251115"), 1'763'164'800 * kSecond);
  EXPECT_EQ(time_of("0"), 0);
}

TEST(TimeWords, ReadCalendarTimes) {
  EXPECT_EQ(time_of("2025-11-15T12:00:00Z"), 1'763'208'000 * kSecond);
  EXPECT_EQ(time_of("2025-11-15T12:00:00.25Z"), 1'763'208'000 * kSecond + kSecond / 4);
  EXPECT_EQ(time_of("2025-11-15T14:00:00+02:00"), 1'763'208'000 * kSecond);
  EXPECT_EQ(time_of("2025-11-15 04:30-0730"), 1'763'208'000 * kSecond);
  EXPECT_EQ(time_of("2025-11-15"), 1'763'164'800 * kSecond);
  EXPECT_EQ(time_of("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(time_of("2024-02-29"), 1'709'164'800 * kSecond);
}

TEST(TimeWords, RefuseOthers) {
  for (const std::string_view text :
       {"", "yesterday", "-", "-1", "-1x", "now1h", "nowish", "2025-13-01", "2025-02-29",
        "2025-11-15T25:00:00Z", "2025-11-15T12:00:00Zx", "2025-11-15T12:00:00+2:00", "20251301",
        "99999999999999999999", "12345678901234567", "-99999999999y", "1.", "1.5x", "١"}) {
    const auto time = parse_time_word(text, kNow, "from");
    EXPECT_FALSE(time.ok()) << text;
    EXPECT_TRUE(time.ok() || time.error().code == ErrorCode::kUsage);
  }
}

TEST(TimeWords, MeasureSpans) {
  const auto span = [](std::string_view text) {
    return parse_span_word(text, "step").value_or(-1);
  };
  EXPECT_EQ(span("15s"), 15 * kSecond);
  EXPECT_EQ(span("1h30m"), 5400 * kSecond);
  EXPECT_EQ(span("15"), 15 * kSecond);
  EXPECT_EQ(span("0.5"), kSecond / 2);
  EXPECT_EQ(span("20250101"), 20'250'101 * kSecond);
  for (const std::string_view text : {"", "0", "-1s", "x", "1763208000123"})
    EXPECT_EQ(span(text), -1) << text;
}

TEST(TimeWords, ADurationMayHaveFractionsAndLongNames) {
  EXPECT_EQ(parse_duration_ns("1h30m"), 5'400'000'000'000);
  EXPECT_EQ(parse_duration_ns("1.5h"), 5'400'000'000'000);
  EXPECT_EQ(parse_duration_ns("250ms"), 250'000'000);
  EXPECT_EQ(parse_duration_ns("2 days"), int64_t{2} * 86'400 * kSecond);
  EXPECT_EQ(parse_duration_ns("2w"), int64_t{14} * 86'400 * kSecond);
  EXPECT_EQ(parse_duration_ns("10"), 10'000'000'000);
  EXPECT_EQ(parse_duration_ns("0"), 0);
  for (const std::string_view text : {"ten", "", "-1s", "1.s", "1 parsec", "999999999h"})
    EXPECT_FALSE(parse_duration_ns(text).has_value()) << text;
}

}  // namespace
}  // namespace vesta
