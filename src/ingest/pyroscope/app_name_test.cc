#include "ingest/pyroscope/app_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vesta::pyroscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(AppName, HasLabelsInBraces) {
  const auto name = parse_app_name(" my.app-1/x.cpu { region = eu , pod.name=a } ");
  ASSERT_TRUE(name.ok()) << name.error().message;
  EXPECT_EQ(name->app, "my.app-1/x.cpu");
  EXPECT_THAT(name->labels, ElementsAre(Pair("region", "eu"), Pair("pod.name", "a")));
}

TEST(AppName, NeedsNoBraces) {
  EXPECT_EQ(parse_app_name("app")->app, "app");
  EXPECT_THAT(parse_app_name("app{}")->labels, IsEmpty());
}

TEST(AppName, KeepsALastLabelWithoutClosingBrace) {
  EXPECT_THAT(parse_app_name("app{a=b")->labels, ElementsAre(Pair("a", "b")));
}

TEST(AppName, LaterLabelWinsAndInternalOnesGo) {
  EXPECT_THAT(parse_app_name("app{a=1,__session_id__=7,a=2}")->labels, ElementsAre(Pair("a", "2")));
}

TEST(AppName, ValuesMayHoldAlmostAnything) {
  EXPECT_THAT(parse_app_name("app{url=http://x/?a=b c\"}")->labels,
              ElementsAre(Pair("url", "http://x/?a=b c\"")));
}

TEST(AppName, BadNamesAreRefused) {
  for (const char* text : {"", " ", "{a=b}", "a b", "app{=b}", "app{a}", "app{a b=c}", "app{a={}}",
                           "app\xff", "app{\xff=1}"}) {
    const auto name = parse_app_name(text);
    ASSERT_FALSE(name.ok()) << text;
    EXPECT_EQ(name.error().code, ErrorCode::kInvalidInput);
    EXPECT_THAT(name.error().message, HasSubstr("name:"));
  }
  EXPECT_FALSE(parse_app_name(std::string(100'000, 'a')).ok());
}

TEST(AppName, SuffixFollowsTheLastDot) {
  EXPECT_EQ(split_suffix("my.app.cpu"),
            std::pair(std::string_view("my.app"), std::string_view("cpu")));
  EXPECT_EQ(split_suffix("app"), std::pair(std::string_view("app"), std::string_view()));
}

}  // namespace
}  // namespace vesta::pyroscope
