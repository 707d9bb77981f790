#include "config/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time.h"

namespace vesta::config {
namespace {

using ::testing::HasSubstr;

template <class T, class Type>
std::string problem(const Type& type, std::string_view word) {
  T value{};
  const Status status = type.parse(word, value);
  return status.ok() ? "" : status.error().message;
}

TEST(Words, NumbersStayInTheirRange) {
  uint16_t small = 7;
  EXPECT_TRUE(Count().parse("65535", small).ok());
  EXPECT_EQ(small, 65'535);
  for (const char* bad : {"65536", "-1", "1.5", "", " 1", "1 ", "0x10", "99999999999999999999"}) {
    EXPECT_FALSE(Count().parse(bad, small).ok()) << bad;
  }
  EXPECT_EQ(small, 65'535);
  EXPECT_THAT(problem<uint32_t>(Count{1, 10'000}, "0"), HasSubstr("from 1 to 10000"));
}

TEST(Words, DurationsAndSizesReadAsTheyAreShown) {
  for (const int64_t ns : {int64_t{0}, kSecond, 90 * kSecond, 600 * kSecond, 3600 * kSecond,
                           24 * 3600 * kSecond, 366 * 86'400 * kSecond, int64_t{1'500'000}}) {
    int64_t back = -1;
    ASSERT_TRUE(Duration().parse(duration_text(ns), back).ok()) << duration_text(ns);
    EXPECT_EQ(back, ns);
  }
  EXPECT_EQ(duration_text(24 * 3600 * kSecond), "24h");
  EXPECT_EQ(duration_text(90 * kSecond), "90s");
  EXPECT_EQ(duration_text(30 * 86'400 * kSecond), "30d");
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{1536}, uint64_t{64} << 20}) {
    uint64_t back = 1;
    ASSERT_TRUE(Size().parse(size_text(bytes), back).ok()) << size_text(bytes);
    EXPECT_EQ(back, bytes);
  }
  EXPECT_THAT(problem<int64_t>(Duration{kSecond, 60 * kSecond}, "500ms"), HasSubstr("1s or more"));
  EXPECT_THAT(problem<int64_t>(Duration{kSecond, 60 * kSecond}, "2m"), HasSubstr("1m or less"));
  EXPECT_THAT(problem<int64_t>(Duration(), "soon"), HasSubstr("a duration, such as"));
  EXPECT_THAT(problem<uint64_t>(Size(), "lots"), HasSubstr("a size, such as"));
}

TEST(Words, ASharesIsAPercentageOrAFraction) {
  double share = 0;
  ASSERT_TRUE(Share().parse("1%", share).ok());
  EXPECT_DOUBLE_EQ(share, 0.01);
  ASSERT_TRUE(Share().parse("0.5", share).ok());
  EXPECT_DOUBLE_EQ(share, 0.5);
  EXPECT_EQ(Share().text(0.01), "1%");
  EXPECT_EQ(Share().text(0.005), "0.5%");
  for (const char* bad : {"", "%", "x", "nan", "inf", "101%", "1e9", "-1%"}) {
    EXPECT_NE(problem<double>(Share(), bad), "") << bad;
  }
}

TEST(Words, ADecimalMayHaveAFraction) {
  double cost = 0;
  ASSERT_TRUE(Decimal().parse("0.048", cost).ok());
  EXPECT_DOUBLE_EQ(cost, 0.048);
  EXPECT_EQ(Decimal().text(cost), "0.048");
  ASSERT_TRUE(Decimal().parse("12", cost).ok());
  EXPECT_EQ(Decimal().text(cost), "12");
  for (const char* bad : {"", "x", "nan", "inf", "-1", "1e3", "1,5", "1000000000000.5"}) {
    EXPECT_NE(problem<double>(Decimal(), bad), "") << bad;
  }
}

TEST(Words, ErrorsShowNoControlCharactersAndNoNovels) {
  EXPECT_THAT(problem<bool>(Switch(), "a\x1b[31m\nb"), HasSubstr("'a [31m b'"));
  EXPECT_LT(problem<bool>(Switch(), std::string(10'000, 'x')).size(), 200U);
  EXPECT_NE(problem<std::string>(Text(), std::string_view("a\0b", 3)), "");
  EXPECT_NE(problem<std::string>(Text{false}, ""), "");
}

TEST(Words, AChoiceNamesAllThatThereAre) {
  const Choice<int> choice = {{"auto", 0}, {"required", 1}, {"off", 2}};
  EXPECT_EQ(problem<int>(choice, "maybe"), "'maybe' is not auto, required or off");
  EXPECT_EQ(choice.text(2), "off");
}

}  // namespace
}  // namespace vesta::config
