#include "base/units.h"

#include <gtest/gtest.h>

namespace vesta {
namespace {

TEST(Units, PrintsValuesAsPprofDoes) {
  EXPECT_EQ(format_value(1'230'000'000, "nanoseconds"), "1.23s");
  EXPECT_EQ(format_value(10'000'000, "nanoseconds"), "10ms");
  EXPECT_EQ(format_value(1'500, "ns"), "1.50us");
  EXPECT_EQ(format_value(0, "nanoseconds"), "0");
  EXPECT_EQ(format_value(3 * 1024 * 1024 / 2, "bytes"), "1.50MB");
  EXPECT_EQ(format_value(42, "count"), "42");
  EXPECT_EQ(format_value(-2'000'000'000, "nanoseconds"), "-2s");
  EXPECT_EQ(format_value(7, "widgets"), "7 widgets");
}

TEST(Units, PrintsInAChosenUnit) {
  EXPECT_EQ(format_value_in(1'230'000'000, "nanoseconds", "ms"), "1230ms");
  EXPECT_EQ(format_value_in(1'230'000'000, "nanoseconds", "nanoseconds"), "1230000000ns");
  EXPECT_EQ(format_value_in(2048, "bytes", "kB"), "2kB");
  EXPECT_EQ(format_value_in(2048, "bytes", "ms"), "2kB");
}

TEST(Units, OneUnitServesAColumn) {
  EXPECT_EQ(best_unit_for_range(10'000'000, 20'000'000, "nanoseconds"), "ms");
  EXPECT_EQ(best_unit_for_range(10'000'000, 60'000'000'000, "nanoseconds"), "s");
}

TEST(Units, SaysLengthsOfTimeInTwoDigits) {
  EXPECT_EQ(format_span(58'000'000'000), "58 s");
  EXPECT_EQ(format_span(477'600'000'000), "8 min");
  EXPECT_EQ(format_span(1'362'160'000'000), "23 min");
  EXPECT_EQ(format_span(3'588'000'000'000), "1 h");
  EXPECT_EQ(format_span(5'400'000'000'000), "1.5 h");
  EXPECT_EQ(format_span(30 * 86'400'000'000'000), "30 d");
  EXPECT_EQ(format_span(0), "0 µs");
}

TEST(Units, ParsesDurationsAndSizes) {
  EXPECT_EQ(parse_bytes("2GiB"), 2ull << 30);
  EXPECT_EQ(parse_bytes("128k"), 128ull << 10);
  EXPECT_EQ(parse_bytes("77"), 77u);
  EXPECT_FALSE(parse_bytes("-1").has_value());
  EXPECT_FALSE(parse_bytes("1s").has_value());
}

TEST(Units, PercentagesHaveNoFalsePrecision) {
  EXPECT_EQ(format_percent(1, 3), "33.33%");
  EXPECT_EQ(format_percent(3, 3), "100%");
  EXPECT_EQ(format_percent(0, 0), "0%");
  EXPECT_EQ(format_count(1234567), "1,234,567");
}

}  // namespace
}  // namespace vesta
