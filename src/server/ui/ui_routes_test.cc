#include "server/ui/ui_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace vesta::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::array kAssets = {
    UiAsset{"index.html", "text/html; charset=utf-8", "\"1a\"", false, "<p>page", "gz", "br"},
    UiAsset{"assets/a-12345678.js", "text/javascript", "\"2b\"", true, "let a", "", ""},
};

class UiRoutesTest : public ::testing::Test {
 protected:
  UiRoutesTest() { add_ui_routes(routes_, kAssets); }

  HttpResponse get(std::string_view path, Fields headers = {}) {
    for (const HttpRoute& route : routes_.http()) {
      if (route.path != path) continue;
      EXPECT_EQ(route.scope, Scope::kNone);
      HttpRequest request;
      request.headers = std::move(headers);
      return route.handler(request, {});
    }
    ADD_FAILURE() << "no route " << path;
    return {};
  }
  static std::string header(const HttpResponse& response, std::string_view name) {
    const auto found = std::ranges::find(response.headers, name, &Fields::value_type::first);
    return found == response.headers.end() ? "" : found->second;
  }

  Routes routes_;
};

TEST_F(UiRoutesTest, ThePageIsAtTheRootAndAskedForEachTime) {
  const HttpResponse page = get("/");
  EXPECT_EQ(page.body, "<p>page");
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_EQ(header(page, "Cache-Control"), "no-cache");
  EXPECT_EQ(header(page, "Content-Encoding"), "");
}

TEST_F(UiRoutesTest, WhatHasItsHashInTheNameIsKeptForEver) {
  const HttpResponse script = get("/assets/a-12345678.js");
  EXPECT_EQ(script.body, "let a");
  EXPECT_THAT(header(script, "Cache-Control"), HasSubstr("immutable"));
}

TEST_F(UiRoutesTest, TheBestCodingThatTheClientTakesIsSent) {
  const auto body = [&](std::string accepted) {
    return get("/", {{"accept-encoding", std::move(accepted)}}).body;
  };
  EXPECT_EQ(body("gzip, deflate, br"), "br");
  EXPECT_EQ(body("gzip, br;q=0"), "gz");
  EXPECT_EQ(body("identity"), "<p>page");
  EXPECT_EQ(header(get("/", {{"accept-encoding", "br"}}), "Content-Encoding"), "br");
  EXPECT_EQ(header(get("/"), "Vary"), "Accept-Encoding");
}

TEST_F(UiRoutesTest, WhatTheClientHasIsNotSentAgain) {
  for (const char* tags : {"\"1a\"", "\"0\", W/\"1a\"", "*"}) {
    const HttpResponse answer = get("/", {{"if-none-match", tags}});
    EXPECT_EQ(answer.status, 304) << tags;
    EXPECT_EQ(answer.body, "");
  }
  EXPECT_EQ(get("/", {{"if-none-match", "\"2b\""}}).status, 200);
}

TEST(UiAssetsTest, AreWholeAndNameNothingElsewhere) {
  const auto assets = ui_assets();
  const auto page = std::ranges::find(assets, "index.html", &UiAsset::path);
  ASSERT_NE(page, assets.end());
  for (const UiAsset& asset : assets) {
    EXPECT_FALSE(asset.content.empty()) << asset.path;
    if (!asset.brotli.empty()) {
      EXPECT_LT(asset.brotli.size(), asset.content.size()) << asset.path;
    }
    // What the page names is there.
    if (asset.path.ends_with("index.html")) {
      size_t scripts = 0;
      for (const UiAsset& other : assets) {
        scripts += asset.content.find(other.path) != std::string_view::npos ? 1 : 0;
      }
      EXPECT_GE(scripts, 3U);  // script, style, icon
      EXPECT_THAT(std::string(asset.content), Not(HasSubstr("http")));
    }
  }
}

}  // namespace
}  // namespace vesta::server
