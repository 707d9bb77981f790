#include "query/time_range.h"

#include <gtest/gtest.h>

#include "base/time.h"

namespace vesta {
namespace {

constexpr int64_t kNow = 1'763'208'000 * kSecond;

TEST(TimeRangeTest, WithoutWordsItIsTheLastHour) {
  const auto last_hour = parse_time_range("", "", kNow);
  ASSERT_TRUE(last_hour.ok());
  EXPECT_EQ(last_hour->start_ns, kNow - 3600 * kSecond);
  EXPECT_EQ(last_hour->end_ns, kNow);
  EXPECT_FALSE(parse_time_range("now", "-1h", kNow).ok());
  EXPECT_FALSE(parse_time_range("now", "now", kNow).ok());
  EXPECT_FALSE(parse_time_range("-1h", "x", kNow).ok());
}

}  // namespace
}  // namespace vesta
