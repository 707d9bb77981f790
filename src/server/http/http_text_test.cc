#include "server/http/http_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/listen_address.h"
#include "server/rpc/router.h"

namespace vesta::server {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Target, IsSplitBeforeItIsDecoded) {
  const auto target = parse_target("/a%2Fb/c%20d/?x=1&y&z=a%26b+c&x=2;3#frag");
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->path, "/a/b/c d/");
  EXPECT_THAT(target->segments, ElementsAre("a/b", "c d", ""));
  EXPECT_THAT(target->query,
              ElementsAre(Pair("x", "1"), Pair("y", ""), Pair("z", "a&b c"), Pair("x", "2;3")));
}

TEST(Target, MayBeAbsolute) {
  EXPECT_EQ(parse_target("http://host:1/a?b")->path, "/a");
  EXPECT_EQ(parse_target("http://host")->path, "/");
}

TEST(Target, LosesThePrefixOfAProxy) {
  const auto path_of = [](std::string_view text) {
    auto target = parse_target(text);
    EXPECT_TRUE(drop_prefix("/tools/vesta", *target)) << text;
    EXPECT_EQ(target->path.empty() ? "" : target->path.substr(1),
              target->segments.empty() ? "" : target->segments.back())
        << text;
    return target->path;
  };
  EXPECT_EQ(path_of("/tools/vesta/"), "/");
  EXPECT_EQ(path_of("/tools/vesta/metrics"), "/metrics");
  EXPECT_EQ(path_of("/metrics"), "/metrics");
  EXPECT_EQ(path_of("/toolsx"), "/toolsx");
  auto bare = parse_target("/tools/vesta");
  EXPECT_FALSE(drop_prefix("/tools/vesta", *bare));
  EXPECT_TRUE(drop_prefix("", *bare));
}

TEST(Target, RefusesWhatIsBroken) {
  for (const char* text : {"", "a", "*", "/%", "/%2", "/%zz", "/?a=%f", "/a%00b", "host:443"}) {
    EXPECT_FALSE(parse_target(text).ok()) << text;
  }
  EXPECT_FALSE(parse_target(std::string(1000, '/')).ok());
  std::string many = "/?";
  for (int i = 0; i < 10'001; ++i) many += "a&";
  EXPECT_FALSE(parse_target(many).ok());
}

TEST(Encoding, IsTakenByWeight) {
  EXPECT_TRUE(accepts_encoding("gzip", "gzip"));
  EXPECT_TRUE(accepts_encoding("br;q=1.0, GZIP;q=0.001", "gzip"));
  EXPECT_TRUE(accepts_encoding("*", "gzip"));
  EXPECT_FALSE(accepts_encoding("*, gzip;q=0", "gzip"));
  EXPECT_FALSE(accepts_encoding("*;q=0.000", "gzip"));
  EXPECT_FALSE(accepts_encoding("", "gzip"));
  EXPECT_FALSE(accepts_encoding("gzip;q=abc", "gzip"));
}

TEST(Secret, IsBearerOrBasicPassword) {
  EXPECT_EQ(secret_of("Bearer abc"), "abc");
  EXPECT_EQ(secret_of("bearer   abc  "), "abc");
  EXPECT_EQ(secret_of("Basic dXNlcjpwYTpzcw=="), "pa:ss");
  EXPECT_EQ(secret_of("Basic Og=="), "");
  EXPECT_FALSE(secret_of("Basic dXNlcg=="));
  EXPECT_FALSE(secret_of("Basic *"));
  EXPECT_FALSE(secret_of("abc"));
  EXPECT_FALSE(secret_of(""));
}

TEST(ListenAddress, IsWrittenInManyWays) {
  EXPECT_TRUE(parse_listen_address("127.0.0.1:4040", "x")->is_loopback());
  EXPECT_TRUE(parse_listen_address("127.9.9.9:0", "x")->is_loopback());
  EXPECT_TRUE(parse_listen_address("[::1]:4040", "x")->is_loopback());
  EXPECT_TRUE(parse_listen_address("localhost:4040", "x")->is_loopback());
  EXPECT_FALSE(parse_listen_address(":4040", "x")->is_loopback());
  EXPECT_FALSE(parse_listen_address("*:4040", "x")->is_loopback());
  EXPECT_FALSE(parse_listen_address("0.0.0.0:4040", "x")->is_loopback());
  EXPECT_FALSE(parse_listen_address("[::]:4040", "x")->is_loopback());
  EXPECT_FALSE(parse_listen_address("192.0.2.1:4040", "x")->is_loopback());
  EXPECT_EQ(parse_listen_address("[::1]:4040", "x")->text(), "[::1]:4040");
  for (const char* text : {"", "4040", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "::1:4040",
                           "127.0.0.1:99999", "127.0.0.1:-1"}) {
    EXPECT_FALSE(parse_listen_address(text, "x").ok()) << text;
  }
}

TEST(Router, PrefersLiteralsAndFallsBack) {
  Routes routes;
  for (const char* path : {"/a/{x}", "/a/b", "/a/{x}/c", "/{y}/b/d"}) {
    routes.add(HttpRoute{"GET", path, Scope::kRead, {}});
  }
  const Router router(routes);
  const auto find = [&](const std::vector<std::string>& segments) {
    const auto match = router.find("GET", segments);
    return match.endpoint == nullptr ? std::string("none") : std::string(match.endpoint->pattern());
  };
  EXPECT_EQ(find({"a", "b"}), "/a/b");
  EXPECT_EQ(find({"a", "z"}), "/a/{x}");
  EXPECT_EQ(find({"a", "b", "c"}), "/a/{x}/c");
  EXPECT_EQ(find({"a", "b", "d"}), "/{y}/b/d");
  EXPECT_EQ(find({"a"}), "none");
  EXPECT_EQ(find({"a", ""}), "none");
  EXPECT_THAT(router.find("GET", {"q", "b", "d"}).path_fields, ElementsAre(Pair("y", "q")));
}

TEST(LoggableTarget, HidesSecrets) {
  EXPECT_EQ(loggable_target("/a/b"), "/a/b");
  EXPECT_EQ(loggable_target("/a?query=cpu{}&&x"), "/a?query=cpu{}&&x");
  EXPECT_EQ(loggable_target("/?token=hunter2"), "/?token=...");
  EXPECT_EQ(loggable_target("/?a=1&Access_Token=hunter2&b=token"),
            "/?a=1&Access_Token=...&b=token");
  EXPECT_EQ(loggable_target("/?%74oken=hunter2"), "/?%74oken=...");
  EXPECT_EQ(loggable_target("/?tok%zzen=hunter2"), "/?tok%zzen=...");
  EXPECT_EQ(loggable_target("/?token=hunter2?token=hunter2"), "/?token=...");
  EXPECT_EQ(loggable_target("/?token"), "/?token");
  const std::string own = "vesta_" + std::string(43, 'x');
  EXPECT_EQ(loggable_target("/" + own + "?q=" + own + "&vesta_up"),
            "/vesta_...?q=vesta_...&vesta_up");
}

TEST(SplitAbsoluteTarget, TakesUrlsApart) {
  const auto url = split_absolute_target("HTTPS://a.example:1?x=/");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->authority, "a.example:1");
  EXPECT_EQ(url->rest, "?x=/");
  EXPECT_FALSE(split_absolute_target("/http://a"));
  EXPECT_FALSE(split_absolute_target("ftp://a"));
  EXPECT_EQ(parse_target("http://a?x=1")->path, "/");
}

}  // namespace
}  // namespace vesta::server
