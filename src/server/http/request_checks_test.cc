#include "server/http/request_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vesta::server {
namespace {

using ::testing::HasSubstr;

// What is wrong; empty when nothing is.
std::string problem(Fields headers, HttpVersion version = HttpVersion::k11,
                    std::string_view target = "/", std::string_view authority = {}) {
  const Status status = check_head({version, target, authority, headers});
  return status ? "" : status.error().message;
}
Fields with_host(Fields more = {}) {
  more.insert(more.begin(), {"host", "localhost:4040"});
  return more;
}

TEST(RequestChecks, FieldsThatDecideStandOnce) {
  EXPECT_EQ(problem(with_host({{"accept", "a"}, {"accept", "b"}, {"cookie", ""}})), "");
  for (const char* name : {"host", "x-scope-orgid", "authorization", "content-length", "origin",
                           "content-encoding", "content-type", "sec-fetch-site", "expect"}) {
    EXPECT_THAT(problem({{"host", "a"}, {name, "1"}, {name, "1"}}), HasSubstr("more than one"))
        << name;
  }
}

TEST(RequestChecks, OnlyChunkedIsATransferEncoding) {
  EXPECT_EQ(problem(with_host({{"transfer-encoding", "Chunked"}})), "");
  for (const char* coding : {"identity", "gzip", "gzip, chunked", "chunked, gzip",
                             "chunked, chunked", "chunked,", "chunked;q=1", "xchunked", "", ","}) {
    EXPECT_THAT(problem(with_host({{"transfer-encoding", coding}})), HasSubstr("not supported"))
        << coding;
  }
  EXPECT_NE(problem(with_host({{"transfer-encoding", "chunked"}, {"content-length", "3"}})), "");
  EXPECT_NE(
      problem(with_host({{"transfer-encoding", "chunked"}, {"transfer-encoding", "chunked"}})), "");
  EXPECT_NE(problem({{"transfer-encoding", "chunked"}}, HttpVersion::k10), "");
  EXPECT_NE(problem({{"transfer-encoding", "chunked"}}, HttpVersion::k2), "");
}

TEST(RequestChecks, ALengthIsANumber) {
  EXPECT_EQ(problem(with_host({{"content-length", "0"}})), "");
  for (const char* length : {"", "3, 3", "+3", "-3", "0x3", "3 3"})
    EXPECT_NE(problem(with_host({{"content-length", length}})), "") << length;
}

TEST(RequestChecks, EveryRequestIsForOneHost) {
  EXPECT_THAT(problem({}), HasSubstr("no Host"));
  EXPECT_EQ(problem({}, HttpVersion::k10), "");
  EXPECT_EQ(problem({}, HttpVersion::k2, "/", "localhost"), "");
  EXPECT_NE(problem({}, HttpVersion::k2, "/", "local host"), "");
  EXPECT_NE(problem({{"host", "evil.example"}}, HttpVersion::k2, "/", "localhost"), "");
  EXPECT_EQ(problem({{"host", "LOCALHOST"}}, HttpVersion::k2, "/", "localhost"), "");
  for (const char* host : {"", "a b", "localhost:x", "user@localhost", "::1", "a,b"})
    EXPECT_NE(problem({{"host", host}}), "") << host;
}

TEST(RequestChecks, AnAbsoluteTargetAgreesWithTheHost) {
  const auto target = [](std::string_view text) {
    return problem({{"host", "localhost"}}, HttpVersion::k11, text);
  };
  EXPECT_EQ(target("http://localhost/a"), "");
  EXPECT_EQ(target("HTTP://localhost:80?x"), "");
  EXPECT_EQ(target("https://LOCALHOST:443"), "");
  EXPECT_THAT(target("http://localhost:4040/a"), HasSubstr("differs from Host"));
  EXPECT_THAT(target("http://evil.example/a"), HasSubstr("differs from Host"));
  EXPECT_NE(target("http://localhost@evil.example/"), "");
  EXPECT_NE(target("http:///a"), "");
}

TEST(RequestChecks, FoldedLinesAreSeen) {
  EXPECT_TRUE(has_folded_line("GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n"));
  EXPECT_TRUE(has_folded_line("GET / HTTP/1.1\r\nHost: a\r\n\tb\r\n\r\n"));
  EXPECT_TRUE(has_folded_line("GET / HTTP/1.1\r\n Host: a\r\n\r\n"));
  EXPECT_FALSE(has_folded_line("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
}

TEST(RequestChecks, BrowsersMayWriteFromTheirOwnOriginOnly) {
  const auto is_foreign = [](Fields headers, std::string method = "POST",
                             std::vector<std::string> listed = {}) {
    HttpRequest request;
    request.method = std::move(method);
    request.headers = std::move(headers);
    return is_write_of_other_page(request, HostNames(std::move(listed)));
  };
  const auto origin = [&](const std::string& text, std::vector<std::string> listed = {}) {
    return is_foreign(with_host({{"origin", text}}), "POST", std::move(listed));
  };
  EXPECT_FALSE(is_foreign(with_host()));
  EXPECT_FALSE(origin("http://localhost:4040"));
  EXPECT_FALSE(origin("http://LocalHost:4040"));
  for (const char* text :
       {"http://localhost", "http://localhost:3000", "http://evil.example", "https://localhost",
        "null", "", "http://localhost:4040/", "http://localhost:4040@evil.example", "file://",
        "http://127.0.0.1:4040", "http://evil.example:4040"})
    EXPECT_TRUE(origin(text)) << text;
  // A proxy with TLS that passes its own name on, and one that does not.
  EXPECT_FALSE(is_foreign({{"host", "p.example"}, {"origin", "https://p.example"}}));
  EXPECT_FALSE(origin("https://p.example", {"p.example"}));
  EXPECT_TRUE(origin("https://p.example", {"*"})) << "every name is not every page";
  // What the browser itself says wins.
  EXPECT_FALSE(
      is_foreign(with_host({{"sec-fetch-site", "same-origin"}, {"origin", "https://p.example"}})));
  EXPECT_TRUE(is_foreign(
      with_host({{"sec-fetch-site", "cross-site"}, {"origin", "http://localhost:4040"}})));
  EXPECT_TRUE(is_foreign(with_host({{"sec-fetch-site", "?"}, {"origin", "http://evil.example"}})));
  EXPECT_TRUE(is_foreign(with_host({{"origin", "http://evil.example"}}), "DELETE"));
  EXPECT_FALSE(is_foreign(with_host({{"origin", "http://evil.example"}}), "GET"));
}

}  // namespace
}  // namespace vesta::server
