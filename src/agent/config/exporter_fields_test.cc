#include "agent/config/exporter_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vesta::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(HttpUrl, GetsAPathWhereItHasNone) {
  const auto parsed = [](std::string_view word, std::string_view path) {
    std::string url = "?";
    const Status status = HttpUrl{path, false}.parse(word, url);
    return status.ok() ? url : status.error().message;
  };
  EXPECT_EQ(parsed("http://a", "/v1/logs"), "http://a/v1/logs");
  EXPECT_EQ(parsed("https://a:1/", "/v1/logs"), "https://a:1/v1/logs");
  EXPECT_EQ(parsed("http://[::1]:4318", "/v1/logs"), "http://[::1]:4318/v1/logs");
  EXPECT_EQ(parsed("http://a/b", "/v1/logs"), "http://a/b");
  EXPECT_EQ(parsed("http://a/", ""), "http://a/");
  for (const char* bad : {"", "a", "a:1", "ftp://a", "http://", "http://a:0", "http://a:99999",
                          "http://a b", "http://a/#x", "http://[::1", "http://:80"}) {
    EXPECT_THAT(parsed(bad, ""), HasSubstr("is not a URL")) << bad;
  }
}

TEST(Headers, AreLinesOfNameAndValue) {
  const auto headers = parse_headers("A: b\r\n\n# no\n  X-Key :  v w \nE:\n");
  ASSERT_TRUE(headers.ok()) << headers.error().message;
  EXPECT_THAT(*headers, ElementsAre(Pair("A", "b"), Pair("X-Key", "v w"), Pair("E", "")));
  for (const char* bad : {"a", "a b: c", ": c", "a: b\x01"}) {
    const auto refused = parse_headers(std::string("ok: 1\n") + bad);
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_EQ(refused.error().message, "line 2 is not a header");
  }
}

}  // namespace
}  // namespace vesta::agent
