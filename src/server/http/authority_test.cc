#include "server/http/authority.h"

#include <gtest/gtest.h>

namespace vesta::server {
namespace {

TEST(AuthorityTest, ReadsNamesAndAddresses) {
  EXPECT_EQ(parse_authority("LocalHost:4040").value(), (Authority{"localhost", false, 4040}));
  EXPECT_EQ(parse_authority("a-b.c_d.example.").value(),
            (Authority{"a-b.c_d.example", false, std::nullopt}));
  EXPECT_EQ(parse_authority("10.1.2.3:0").value(), (Authority{"10.1.2.3", true, 0}));
  EXPECT_EQ(parse_authority("[::1]").value(), (Authority{"::1", true, std::nullopt}));
  EXPECT_EQ(parse_authority("[2001:DB8::1]:65535").value(),
            (Authority{"2001:db8::1", true, 65535}));
  EXPECT_EQ(parse_authority("1.2.3").value(), (Authority{"1.2.3", false, std::nullopt}));
}

TEST(AuthorityTest, TakesNothingElse) {
  for (const char* text : {"",
                           " ",
                           ".",
                           "..",
                           "a..b",
                           ".a",
                           "localhost..",
                           ":",
                           ":80",
                           "localhost:",
                           "localhost:x",
                           "localhost:65536",
                           "localhost:99999999999",
                           "localhost:-1",
                           "localhost:+1",
                           "localhost: 80",
                           "localhost:80:80",
                           "::1",
                           "::1:80",
                           "[::1",
                           "[]",
                           "[::1]80",
                           "[::1]:",
                           "[::1] ",
                           "[evil.example]",
                           "[::1%eth0]",
                           "[127.0.0.1]",
                           "user@localhost",
                           "localhost/",
                           "localhost?",
                           "localhost#",
                           "local host",
                           "localhost,evil.example",
                           "%6cocalhost",
                           "a\tb",
                           "*",
                           "{a}"}) {
    EXPECT_FALSE(parse_authority(text).ok()) << text;
  }
  EXPECT_FALSE(parse_authority(std::string(300, 'a')).ok());
  EXPECT_FALSE(parse_authority(std::string_view("localhost\0", 10)).ok());
}

TEST(AuthorityTest, AMissingPortIsThatOfTheScheme) {
  const auto same = [](const char* a, const char* b, const char* scheme) {
    return is_same_place(*parse_authority(a), *parse_authority(b), scheme);
  };
  EXPECT_TRUE(same("a", "a:80", "http"));
  EXPECT_TRUE(same("a", "A.:443", "https"));
  EXPECT_TRUE(same("a:1", "a:1", ""));
  EXPECT_FALSE(same("a", "a:80", "https"));
  EXPECT_FALSE(same("a", "b", "http"));
  EXPECT_FALSE(same("a:1", "a:2", "http"));
}

}  // namespace
}  // namespace vesta::server
