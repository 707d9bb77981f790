#include "server/http/http_server.h"
#include "base/mutex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "base/test_requirements.h"
#include "formats/common/compression.h"
#include "server/testing/certificates.h"
#include "server/testing/gate.h"
#include "server/testing/http_client.h"

namespace vesta::server {
namespace {

using std::chrono::milliseconds;
using testing::Certificates;
using testing::ClientTls;
using testing::eventually;
using ::testing::HasSubstr;
using testing::HttpClient;

HttpResponse text_response(std::string body) {
  HttpResponse response;
  response.content_type = "text/plain";
  response.body = std::move(body);
  return response;
}

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest() {
    options_.limits.header_timeout = milliseconds(400);
    options_.limits.body_timeout = milliseconds(400);
    options_.limits.write_timeout = milliseconds(600);
    options_.limits.idle_timeout = milliseconds(400);
    options_.limits.min_bytes_per_second = 1 << 20;
    options_.listeners = {{{"127.0.0.1", 0, false}, {}}};
    add("GET", "/hello", Scope::kRead, [](const HttpRequest&, const Caller& caller) {
      return text_response("hello " + caller.tenant + " at " + caller.address);
    });
    add("POST", "/echo", Scope::kWrite,
        [](const HttpRequest& request, const Caller&) { return text_response(request.body); });
    add("POST", "/size", Scope::kWrite, [](const HttpRequest& request, const Caller&) {
      return text_response(std::to_string(request.body.size()));
    });
    add("GET", "/values/{label}", Scope::kRead, [](const HttpRequest& request, const Caller&) {
      return text_response(std::string(request.path_field("label")) + "|" +
                           std::string(request.parameter("prefix")));
    });
    add("GET", "/large", Scope::kRead, [](const HttpRequest&, const Caller&) {
      return text_response(std::string(64 << 20, 'x'));
    });
    add("GET", "/text", Scope::kRead,
        [](const HttpRequest&, const Caller&) { return text_response(std::string(10'000, 'a')); });
    add("GET", "/gate", Scope::kRead, [this](const HttpRequest&, const Caller&) {
      gate_.wait();
      return text_response("passed");
    });
    add("GET", "/throws", Scope::kRead, [](const HttpRequest&, const Caller&) -> HttpResponse {
      throw std::runtime_error("oops");
    });
    add("GET", "/injects", Scope::kRead, [](const HttpRequest& request, const Caller&) {
      HttpResponse response = text_response("");
      response.headers.emplace_back("X-Name", std::string(request.parameter("v")));
      return response;
    });
    add("GET", "/none", Scope::kRead, [](const HttpRequest&, const Caller&) {
      HttpResponse response = text_response("must not be sent");
      response.status = 204;
      return response;
    });
  }
  ~HttpServerTest() override {
    gate_.open();
    if (server_ != nullptr) server_->stop(milliseconds(5000));
    pool_.reset();
    server_.reset();
  }

  void add(std::string method, std::string path, Scope scope, HttpHandler handler) {
    routes_.add(HttpRoute{std::move(method), std::move(path), scope, std::move(handler)});
  }

  void start() {
    budget_ = std::make_unique<MemoryBudget>(budget_bytes_);
    pool_ = std::make_unique<WorkerPool>(pool_options_);
    dispatcher_ = std::make_unique<Dispatcher>(
        routes_,
        [](const Credentials& credentials, Scope) -> Result<Caller> {
          if (credentials.authorization == "Bearer wrong") {
            return Error{ErrorCode::kUnauthenticated, "who are you", {}};
          }
          Caller caller;
          caller.address = credentials.address;
          if (!credentials.org_id.empty()) caller.tenant = credentials.org_id;
          return caller;
        },
        [this](const RequestRecord& record) {
          const MutexLock guard(records_lock_);
          records_.push_back(std::string(record.route) + " " + std::to_string(record.status) + " " +
                             std::string(record.rejected));
        },
        limits_);
    auto server = HttpServer::start(options_, *dispatcher_, *pool_, *budget_, log_);
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
  }
  uint16_t port() const { return server_->addresses()[0].port; }
  HttpClient connect() const { return HttpClient(port()); }
  std::vector<std::string> records() {
    const MutexLock guard(records_lock_);
    return records_;
  }

  Routes routes_;
  testing::Gate gate_;
  HttpServerOptions options_;
  RequestLimits limits_;
  WorkerPool::Options pool_options_;
  uint64_t budget_bytes_ = uint64_t{256} << 20;
  std::unique_ptr<MemoryBudget> budget_;
  Log log_{nullptr, LogFormat::kText, LogLevel::kInfo};
  Mutex records_lock_;
  std::vector<std::string> records_ GUARDED_BY(records_lock_);
  std::unique_ptr<WorkerPool> pool_;
  std::unique_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersAndKeepsTheConnection) {
  start();
  HttpClient client = connect();
  for (int i = 0; i < 3; ++i) {
    const auto reply = client.get("/hello");
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 200);
    EXPECT_EQ(reply->body, "hello anonymous at 127.0.0.1");
    EXPECT_EQ(reply->headers.at("x-content-type-options"), "nosniff");
    EXPECT_THAT(reply->headers.at("content-security-policy"), HasSubstr("default-src 'self'"));
    EXPECT_EQ(reply->headers.at("x-request-id").size(), 16U);
  }
  EXPECT_EQ(server_->stats().accepted, 1U);
}

TEST_F(HttpServerTest, KeepsTheClientsRequestIdWhenItIsHarmless) {
  start();
  HttpClient client = connect();
  EXPECT_EQ(client.get("/hello", "X-Request-Id: abc-1\r\n")->headers.at("x-request-id"), "abc-1");
  EXPECT_NE(client.get("/hello", "X-Request-Id: a b\"\r\n")->headers.at("x-request-id"), "a b\"");
}

TEST_F(HttpServerTest, RoutesByMethodAndPath) {
  start();
  HttpClient client = connect();
  EXPECT_EQ(client.get("/values/service%2Fname?prefix=a+b%26")->body, "service/name|a b&");
  EXPECT_EQ(client.get("/nowhere")->status, 404);
  EXPECT_EQ(client.get("/values/")->status, 404);
  const auto wrong = client.request("DELETE", "/hello");
  EXPECT_EQ(wrong->status, 405);
  EXPECT_EQ(wrong->headers.at("allow"), "GET, HEAD");
  EXPECT_EQ(client.get("/a%zz")->status, 400);
}

TEST_F(HttpServerTest, WorksBehindAPrefix) {
  options_.path_prefix = "/vesta";
  start();
  HttpClient client = connect();
  EXPECT_EQ(client.get("/vesta/hello")->status, 200);
  EXPECT_EQ(client.get("/hello")->status, 200);
  EXPECT_EQ(client.get("/vesta/nothing")->status, 404);
  const auto redirect = client.get("/vesta");
  EXPECT_EQ(redirect->status, 308);
  EXPECT_EQ(redirect->headers.at("location"), "/vesta/");
}

TEST_F(HttpServerTest, HeadHasTheHeadersAndNoBody) {
  start();
  HttpClient client = connect();
  const auto head = client.request("HEAD", "/text");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->headers.at("content-length"), "10000");
  EXPECT_EQ(client.get("/hello")->status, 200);  // in step
}

TEST_F(HttpServerTest, NoContentHasNoBody) {
  start();
  HttpClient client = connect();
  const auto none = client.get("/none");
  EXPECT_EQ(none->status, 204);
  EXPECT_EQ(none->headers.count("content-length"), 0U);
  EXPECT_EQ(client.get("/hello")->status, 200);
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrder) {
  start();
  HttpClient client = connect();
  std::string text;
  for (int i = 0; i < 50; ++i) {
    text += "GET /values/" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n";
    text += "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
  }
  ASSERT_TRUE(client.send(text));
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(client.read_reply()->body, std::to_string(i) + "|");
    EXPECT_EQ(client.read_reply()->body, "abc");
  }
}

TEST_F(HttpServerTest, ReadsChunkedAndCompressedBodies) {
  start();
  HttpClient client = connect();
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  client.send("3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n");
  EXPECT_EQ(client.read_reply()->body, "abcdefg");
  const std::string text(100'000, 'z');
  EXPECT_EQ(client.request("POST", "/size", "Content-Encoding: gzip\r\n", gzip(text))->body,
            "100000");
  EXPECT_EQ(client.request("POST", "/size", "Content-Encoding: zstd\r\n", zstd(text))->body,
            "100000");
  EXPECT_EQ(client.request("POST", "/size", "Content-Encoding: gzip\r\n", "plain")->status, 400);
  EXPECT_EQ(client.request("POST", "/size", "Content-Encoding: gzip\r\n", gzip(text).substr(0, 50))
                ->status,
            400);
  EXPECT_EQ(client.request("POST", "/size", "Content-Encoding: br\r\n", "x")->status, 415);
}

TEST_F(HttpServerTest, ReadsLargeBodies) {
  start();
  HttpClient client = connect();
  const std::string body(20 << 20, 'b');
  EXPECT_EQ(client.request("POST", "/size", "", body)->body, std::to_string(body.size()));
  EXPECT_EQ(budget_->used(), 0U);
}

TEST_F(HttpServerTest, CompressesWhatIsWorthIt) {
  start();
  HttpClient client = connect();
  const auto packed = client.get("/text", "Accept-Encoding: br, gzip;q=0.5\r\n");
  EXPECT_EQ(packed->headers.at("content-encoding"), "gzip");
  EXPECT_EQ(gunzip(packed->body, 1 << 20).value(), std::string(10'000, 'a'));
  EXPECT_EQ(client.get("/text", "Accept-Encoding: gzip;q=0\r\n")->headers.count("content-encoding"),
            0U);
  EXPECT_EQ(client.get("/hello", "Accept-Encoding: gzip\r\n")->headers.count("content-encoding"),
            0U);
}

TEST_F(HttpServerTest, RefusesBodiesOverTheLimits) {
  limits_.max_bytes = 1000;
  limits_.max_decoded_bytes = 50'000;
  start();
  EXPECT_EQ(connect().request("POST", "/size", "", std::string(2000, 'x'))->status, 413);
  HttpClient chunked = connect();
  chunked.send("POST /size HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" +
               std::string(2000, 'x') + "\r\n0\r\n\r\n");
  EXPECT_EQ(chunked.read_reply()->status, 413);
  const std::string bomb = gzip(std::string(200'000, '\0'));
  ASSERT_LT(bomb.size(), 1000U);
  EXPECT_EQ(connect().request("POST", "/size", "Content-Encoding: gzip\r\n", bomb)->status, 413);
  EXPECT_EQ(budget_->used(), 0U);
}

TEST_F(HttpServerTest, BombsTakeNoMoreThanTheBudget) {
  MemoryBudget small(1 << 20);
  MemoryBudget::Lease lease(small);
  const std::string bomb = gzip(std::string(100 << 20, '\0'), 9);
  const auto decoded = decode_body(bomb, "gzip", uint64_t{256} << 20, lease);
  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.error().code, ErrorCode::kTooMany);
}

TEST_F(HttpServerTest, RefusesRequestsBeyondTheMemoryBudget) {
  budget_bytes_ = 1 << 20;
  start();
  HttpClient client = connect();
  EXPECT_EQ(client.request("POST", "/size", "", std::string(500'000, 'x'))->status, 200);
  const auto reply = connect().request("POST", "/size", "", std::string(4 << 20, 'x'));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 429);
  EXPECT_EQ(reply->headers.at("retry-after"), "1");
  EXPECT_TRUE(eventually([&] { return budget_->used() == 0; }));
}

TEST_F(HttpServerTest, RefusesHugeHeadsAndTargets) {
  start();
  EXPECT_EQ(connect().get("/hello", "X-A: " + std::string(40'000, 'a') + "\r\n")->status, 431);
  EXPECT_EQ(connect().get("/hello?" + std::string(20'000, 'a'))->status, 414);
  HttpClient endless = connect();
  bool sent = true;
  for (int i = 0; i < 1000 && sent; ++i) sent = endless.send(std::string(1000, 'a'));
  EXPECT_TRUE(endless.closed_within(milliseconds(5000)));
}

TEST_F(HttpServerTest, RefusesWhatIsNoHttp) {
  start();
  for (
      const std::string text :
      {"\x16\x03\x01\x02 tls hello\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
       "GET /hello HTTP/1.1\r\nHost : x\r\n\r\n", "GET /hello HTTP/1.1\r\n\r\n",
       "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
       "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
       "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"  // NOLINT(bugprone-suspicious-missing-comma)
       "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    HttpClient client = connect();
    client.send(text);
    const auto reply = client.read_reply();
    ASSERT_TRUE(reply) << text;
    EXPECT_EQ(reply->status, 400) << text;
    EXPECT_TRUE(client.closed_within(milliseconds(5000)));
  }
}

// Nothing of a request may run as a request of its own because two readers differ on where it ends.
TEST_F(HttpServerTest, WhatFollowsADoubtfulHeadIsNeverRun) {
  start();
  const std::string smuggled = "GET /values/smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
  for (const std::string head :
       {"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
        "identity\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nX-A: b\r\n\tContent-Length: 3\r\n\r\n",
        "POST /echo HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: "
        "chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nTransfer-Encoding: "
        "identity\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0, 0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: x y\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost:\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: x:99999\r\n\r\n",
        "GET http://y/hello HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: x\r\nX-Scope-OrgID: a\r\nX-Scope-OrgID: b\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Encoding: "
        "gzip\r\nContent-Length: 0\r\n\r\n"}) {
    HttpClient client = connect();
    client.send(head + smuggled);
    const auto reply = client.read_reply();
    ASSERT_TRUE(reply) << head;
    EXPECT_EQ(reply->status, 400) << head;
    EXPECT_FALSE(client.read_reply()) << head;
  }
  EXPECT_THAT(records(), ::testing::Not(::testing::Contains(HasSubstr("/values"))));
  EXPECT_THAT(records(), ::testing::Not(::testing::Contains(HasSubstr("200"))));
}

TEST_F(HttpServerTest, TakesAbsoluteTargetsThatAgreeWithTheHost) {
  start();
  HttpClient client = connect();
  client.send("GET http://x:1/hello HTTP/1.1\r\nHost: x:1\r\n\r\n");
  EXPECT_EQ(client.read_reply()->status, 200);
  client.send("GET /hello HTTP/1.0\r\n\r\n");
  EXPECT_EQ(client.read_reply()->status, 200);
}

TEST_F(HttpServerTest, ReadsHeadsThatComeInPieces) {
  start();
  HttpClient client = connect();
  const std::string text =
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /hello HTTP/1.1\r\nHost: "
      "x\r\n\r\n";
  for (const char c : text) ASSERT_TRUE(client.send(std::string_view(&c, 1)));
  EXPECT_EQ(client.read_reply()->body, "abc");
  EXPECT_EQ(client.read_reply()->status, 200);
  client.send("GET /hel");
  client.finish_sending();
  EXPECT_EQ(client.read_reply()->status, 400);
}

TEST_F(HttpServerTest, ContinuesWhenAskedTo) {
  start();
  HttpClient client = connect();
  client.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(client.read_reply()->status, 100);
  client.send("abc");
  EXPECT_EQ(client.read_reply()->body, "abc");
  // Whoever may not, or sends too much, hears it before sending anything.
  client.send(
      "POST /nowhere HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(client.read_reply()->status, 404);
  EXPECT_EQ(connect().get("/hello", "Expect: tea\r\n")->status, 417);
}

TEST_F(HttpServerTest, ReadsNoBodyOfStrangers) {
  start();
  HttpClient client = connect();
  client.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\nContent-Length: "
      "9999999\r\n\r\n");
  const auto reply = client.read_reply();
  EXPECT_EQ(reply->status, 401);
  EXPECT_THAT(reply->headers.at("www-authenticate"), HasSubstr("Bearer"));
  EXPECT_TRUE(client.closed_within(milliseconds(5000)));
  EXPECT_THAT(records(), ::testing::Contains("/echo 401 unauthenticated"));
}

TEST_F(HttpServerTest, PagesOfOtherSitesChangeNothing) {
  start();
  const auto post = [this](const std::string& from) {
    return connect().request("POST", "/echo", "Sec-Fetch-Site: " + from + "\r\n", "x")->status;
  };
  EXPECT_EQ(post("same-origin"), 200);
  EXPECT_EQ(post("none"), 200);
  EXPECT_EQ(post("cross-site"), 403);
  EXPECT_EQ(post("same-site"), 403) << "another port of this machine";
  EXPECT_EQ(connect().get("/hello", "Sec-Fetch-Site: cross-site\r\n")->status, 200);
  // Where browsers do not send it: over plain HTTP to another machine.
  const auto post_from = [this](const std::string& origin) {
    return connect().request("POST", "/echo", "Origin: " + origin + "\r\n", "x")->status;
  };
  EXPECT_EQ(post_from("http://localhost"), 200);
  EXPECT_EQ(post_from("http://localhost:3000"), 403);
  EXPECT_EQ(post_from("http://evil.example"), 403);
  EXPECT_EQ(post_from("null"), 403);
}

TEST_F(HttpServerTest, EndsSlowHeads) {
  start();
  HttpClient silent = connect();
  HttpClient half = connect();
  half.send("GET /hello HTTP/1.1\r\nHost: ");
  EXPECT_TRUE(silent.closed_within(milliseconds(5000)));
  EXPECT_TRUE(half.closed_within(milliseconds(5000)));
  // A byte now and then does not help.
  HttpClient dripping = connect();
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::seconds(10)) {
    if (!dripping.send("G") || dripping.closed_within(milliseconds(50))) break;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  // Counted after the connection is closed, which is what we saw.
  while (server_->stats().timeouts < 3 &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(10)) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_GE(server_->stats().timeouts, 3U);
}

TEST_F(HttpServerTest, EndsSlowBodies) {
  start();
  HttpClient client = connect();
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n");
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::seconds(10)) {
    if (!client.send("x") || client.closed_within(milliseconds(50))) break;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_TRUE(eventually([&] { return server_->stats().connections == 0; }));
  EXPECT_EQ(budget_->used(), 0U);
}

// Whatever the size of the answer: what it may take at the least rate is for those who read.
TEST_F(HttpServerTest, EndsClientsThatDoNotRead) {
  options_.limits.min_bytes_per_second = 1024;
  start();
  HttpClient client = connect();
  client.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(eventually([&] { return server_->stats().connections == 1; }));
  EXPECT_EQ(connect().get("/hello")->status, 200);
  EXPECT_TRUE(eventually([&] { return server_->stats().connections == 0; }));
  EXPECT_GE(server_->stats().timeouts, 1U);
}

TEST_F(HttpServerTest, AnswersThatAreNotReadAreBoundedTogether) {
  options_.limits.write_timeout = milliseconds(60'000);
  limits_.answer_bytes = uint64_t{100} << 20;
  start();
  auto first = std::make_unique<HttpClient>(connect());
  first->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return dispatcher_->answers().used() > 0; }));
  EXPECT_GE(dispatcher_->answers().used(), uint64_t{64} << 20);
  const auto second = connect().get("/large");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->status, 503);
  EXPECT_EQ(second->headers.at("retry-after"), "1");
  // What is small always goes out.
  EXPECT_EQ(connect().get("/hello")->status, 200);
  EXPECT_EQ(connect().get("/nowhere")->status, 404);
  first.reset();
  EXPECT_TRUE(eventually([&] { return dispatcher_->answers().used() == 0; }));
  EXPECT_EQ(connect().get("/large")->body.size(), size_t{64} << 20);
  EXPECT_TRUE(eventually([&] { return dispatcher_->answers().used() == 0; }));
}

TEST_F(HttpServerTest, AnswersThatNeverFitSayHowToAskForLess) {
  limits_.answer_bytes = uint64_t{10} << 20;
  start();
  const auto reply = connect().get("/large");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 413);
  EXPECT_THAT(reply->body, HasSubstr("server.answer_memory"));
}

TEST_F(HttpServerTest, WhatWaitsIsNotWorkedOnAfterTheGrace) {
  pool_options_.read_threads = 1;
  start();
  HttpClient busy = connect();
  busy.send("GET /gate HTTP/1.1\r\nHost: x\r\n\r\n");
  gate_.wait_for_visitors(1);
  HttpClient waiting = connect();
  waiting.send("GET /gate HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(eventually([&] { return pool_->queued() == 1; }));
  EXPECT_EQ(dispatcher_->running().text(), "1 x /gate");
  server_->stop(milliseconds(50));
  gate_.open();
  pool_->stop();
  EXPECT_EQ(gate_.visitors(), 1);
  EXPECT_EQ(dispatcher_->running().text(), "");
}

TEST_F(HttpServerTest, EndsIdleConnections) {
  start();
  HttpClient client = connect();
  EXPECT_EQ(client.get("/hello")->status, 200);
  EXPECT_TRUE(client.closed_within(milliseconds(5000)));
  EXPECT_EQ(server_->stats().timeouts, 0U);  // nobody did anything wrong
}

TEST_F(HttpServerTest, SurvivesHalfRequests) {
  start();
  for (int i = 0; i < 20; ++i) {
    HttpClient client = connect();
    client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf");
  }
  HttpClient half = connect();
  half.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf");
  half.finish_sending();
  EXPECT_EQ(half.read_reply()->status, 400);
  EXPECT_TRUE(eventually([&] { return server_->stats().connections == 0; }));
  EXPECT_EQ(connect().get("/hello")->status, 200);
  EXPECT_EQ(budget_->used(), 0U);
}

TEST_F(HttpServerTest, FailuresOfHandlersAreAnswers) {
  start();
  HttpClient client = connect();
  EXPECT_EQ(client.get("/throws")->status, 500);
  EXPECT_EQ(client.get("/hello")->status, 200);
}

TEST_F(HttpServerTest, HandlersCannotSplitTheAnswer) {
  start();
  const auto reply = connect().get("/injects?v=a%0d%0aX-Evil:%20b");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->headers.count("x-evil"), 0U);
  EXPECT_EQ(reply->headers.at("x-name"), "a  X-Evil: b");
}

TEST_F(HttpServerTest, HandlersDoNotHoldUpOthers) {
  pool_options_.read_threads = 1;
  pool_options_.max_queued = 1;
  add("GET", "/healthz", Scope::kNone,
      [](const HttpRequest&, const Caller&) { return text_response("ok"); });
  start();
  HttpClient first = connect();
  first.send("GET /gate HTTP/1.1\r\nHost: x\r\n\r\n");
  gate_.wait_for_visitors(1);
  HttpClient second = connect();
  second.send("GET /gate HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(eventually([&] { return pool_->queued() == 1; }));
  const auto third = connect().get("/gate");
  EXPECT_EQ(third->status, 503);
  EXPECT_EQ(third->headers.at("retry-after"), "1");
  EXPECT_EQ(connect().get("/healthz")->status, 200);
  EXPECT_EQ(connect().request("POST", "/echo", "", "x")->status, 200);
  gate_.open();
  EXPECT_EQ(first.read_reply()->body, "passed");
  EXPECT_EQ(second.read_reply()->body, "passed");
}

TEST_F(HttpServerTest, HandlersCanAskWhetherTheClientIsGone) {
  std::atomic<bool> gone_at_first{true};
  std::atomic<bool> gone_at_last{false};
  add("GET", "/long", Scope::kRead, [&](const HttpRequest&, const Caller& caller) {
    gone_at_first = caller.is_gone();
    gate_.wait();
    gone_at_last = eventually([&] { return caller.is_gone(); });
    return text_response("for nobody");
  });
  start();
  {
    HttpClient client = connect();
    client.send("GET /long HTTP/1.1\r\nHost: x\r\n\r\n");
    gate_.wait_for_visitors(1);
  }
  gate_.open();
  EXPECT_TRUE(eventually([&] { return gone_at_last.load(); }));
  EXPECT_FALSE(gone_at_first);
  EXPECT_EQ(connect().get("/hello")->status, 200);
}

TEST_F(HttpServerTest, SlowRequestsOfOneTenantLeaveOthersAlone) {
  start();
  std::vector<HttpClient> clients;
  constexpr size_t kClients = 40;
  clients.reserve(kClients);
  for (size_t i = 0; i < kClients; ++i) {
    clients.push_back(connect());
    clients.back().send("GET /gate HTTP/1.1\r\nHost: x\r\nX-Scope-OrgID: greedy\r\n\r\n");
  }
  EXPECT_TRUE(eventually([&] { return pool_->running() + pool_->queued() == kClients; }));
  EXPECT_EQ(connect().get("/hello", "X-Scope-OrgID: modest\r\n")->status, 200);
  gate_.open();
  for (HttpClient& client : clients) EXPECT_EQ(client.read_reply()->body, "passed");
}

TEST_F(HttpServerTest, RefusesConnectionsOverTheCapPolitely) {
  options_.limits.max_connections = 3;
  options_.limits.header_timeout = milliseconds(60'000);
  start();
  std::vector<HttpClient> clients;
  clients.reserve(3);
  for (int i = 0; i < 3; ++i) clients.push_back(connect());
  EXPECT_TRUE(eventually([&] { return server_->stats().connections == 3; }));
  HttpClient fourth = connect();
  const auto reply = fourth.get("/hello");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 503);
  EXPECT_TRUE(fourth.closed_within(milliseconds(5000)));
  EXPECT_EQ(clients[0].get("/hello")->status, 200);
  clients.pop_back();
  EXPECT_TRUE(eventually([&] { return connect().get("/hello")->status == 200; }));
  EXPECT_GE(server_->stats().refused, 1U);
}

TEST_F(HttpServerTest, ServesOverThousandsOfConnections) {
  constexpr size_t kConnections = 2500;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  VESTA_REQUIRE_OR_SKIP(limit.rlim_max > 2 * kConnections + 1500, "needs 6 500 open files");
  options_.limits.idle_timeout = milliseconds(120'000);
  options_.limits.header_timeout = milliseconds(120'000);
  start();
  std::vector<HttpClient> clients;
  for (size_t i = 0; i < kConnections; ++i) {
    clients.push_back(connect());
    ASSERT_TRUE(clients.back().connected()) << i;
  }
  for (HttpClient& client : clients) client.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  size_t answered = 0;
  for (HttpClient& client : clients) {
    const auto reply = client.read_reply();
    answered += reply && reply->status != 0 ? 1 : 0;
  }
  EXPECT_EQ(answered, kConnections);
  EXPECT_EQ(server_->stats().connections, kConnections);
  server_->stop(milliseconds(5000));
  EXPECT_EQ(server_->stats().connections, 0U);
}

TEST_F(HttpServerTest, StopsAfterRequestsInFlight) {
  options_.limits.idle_timeout = milliseconds(60'000);
  start();
  HttpClient idle = connect();
  EXPECT_EQ(idle.get("/hello")->status, 200);
  HttpClient busy = connect();
  busy.send("GET /gate HTTP/1.1\r\nHost: x\r\n\r\n");
  gate_.wait_for_visitors(1);
  const uint16_t port = this->port();
  std::thread stopping([this] { server_->stop(milliseconds(20'000)); });
  EXPECT_TRUE(idle.closed_within(milliseconds(5000)));
  EXPECT_TRUE(eventually([&] { return !HttpClient(port).connected(); }));
  gate_.open();
  const auto reply = busy.read_reply();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->body, "passed");
  EXPECT_EQ(reply->headers.at("connection"), "close");
  stopping.join();
}

TEST_F(HttpServerTest, StopsInBoundedTimeWhateverHandlersDo) {
  start();
  HttpClient busy = connect();
  busy.send("GET /gate HTTP/1.1\r\nHost: x\r\n\r\n");
  gate_.wait_for_visitors(1);
  const auto start = std::chrono::steady_clock::now();
  server_->stop(milliseconds(100));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_TRUE(busy.closed_within(milliseconds(5000)));
}

TEST_F(HttpServerTest, ListenersMayServeSomePathsOnly) {
  options_.listeners.push_back({{"127.0.0.1", 0, false}, {"/echo"}});
  start();
  HttpClient client(server_->addresses()[1].port);
  EXPECT_EQ(client.request("POST", "/echo", "", "x")->body, "x");
  EXPECT_EQ(client.get("/hello")->status, 404);
}

TEST_F(HttpServerTest, SaysWhichAddressIsTaken) {
  start();
  HttpServerOptions options = options_;
  options.listeners[0].address.port = port();
  const auto second = HttpServer::start(options, *dispatcher_, *pool_, *budget_, log_);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, HasSubstr("127.0.0.1:" + std::to_string(port())));
}

class HttpsServerTest : public HttpServerTest {
 protected:
  void SetUp() override {
    VESTA_REQUIRE_OR_SKIP(certificates_.ok(), "needs the openssl command");
    ASSERT_TRUE(certificates_.issue("server") && certificates_.issue("client") &&
                certificates_.issue("renewed"));
    options_.tls.certificate = certificates_.certificate("server");
    options_.tls.key = certificates_.key("server");
    options_.tls.check_interval = milliseconds(20);
  }
  ClientTls with_ca() const { return {certificates_.ca(), {}, {}}; }

  Certificates certificates_;
};

TEST_F(HttpsServerTest, SpeaksTls) {
  start();
  HttpClient client(port(), with_ca());
  ASSERT_TRUE(client.connected());
  EXPECT_EQ(client.get("/hello")->status, 200);
  EXPECT_EQ(client.request("POST", "/size", "", std::string(3 << 20, 'x'))->body, "3145728");
  // Plain HTTP gets nothing, and holds nothing up.
  HttpClient plain = connect();
  plain.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(plain.closed_within(milliseconds(5000)));
  EXPECT_TRUE(eventually([&] { return server_->stats().handshake_failures == 1; }));
}

TEST_F(HttpsServerTest, HandlersCanAskWhetherTheClientIsGone) {
  std::atomic<bool> gone{false};
  add("GET", "/long", Scope::kRead, [&](const HttpRequest&, const Caller& caller) {
    gate_.wait();
    gone = eventually([&] { return caller.is_gone(); });
    return text_response("for nobody");
  });
  start();
  {
    HttpClient client(port(), with_ca());
    client.send("GET /long HTTP/1.1\r\nHost: x\r\n\r\n");
    gate_.wait_for_visitors(1);
  }
  gate_.open();
  EXPECT_TRUE(eventually([&] { return gone.load(); }));
}

TEST_F(HttpsServerTest, UsesARenewedCertificateWithoutARestart) {
  options_.limits.idle_timeout = milliseconds(60'000);
  start();
  HttpClient before(port(), with_ca());
  EXPECT_EQ(before.peer_certificate_name(), "server");
  ASSERT_TRUE(certificates_.replace("server", "renewed"));
  EXPECT_TRUE(eventually(
      [&] { return HttpClient(port(), with_ca()).peer_certificate_name() == "renewed"; }));
  EXPECT_EQ(before.get("/hello")->status, 200);
  // One that cannot be used changes nothing.
  std::ofstream(certificates_.certificate("server")) << "garbage";
  EXPECT_TRUE(eventually([&] { return server_->stats().tls_reload_failures > 0; }));
  EXPECT_EQ(HttpClient(port(), with_ca()).peer_certificate_name(), "renewed");
}

TEST_F(HttpsServerTest, AsksForClientCertificatesWhenToldTo) {
  options_.tls.client_ca = certificates_.ca();
  start();
  HttpClient with(port(), {certificates_.ca(), certificates_.certificate("client"),
                           certificates_.key("client")});
  EXPECT_EQ(with.get("/hello")->status, 200);
  // With TLS 1.3 the client learns of it only when it reads.
  HttpClient without(port(), with_ca());
  EXPECT_FALSE(without.get("/hello"));
  const Certificates others;
  ASSERT_TRUE(others.issue("client"));
  HttpClient stranger(port(),
                      {certificates_.ca(), others.certificate("client"), others.key("client")});
  EXPECT_FALSE(stranger.get("/hello"));
}

TEST_F(HttpsServerTest, RefusesToStartWithoutAUsableCertificate) {
  options_.tls.key = certificates_.key("client");
  budget_ = std::make_unique<MemoryBudget>(budget_bytes_);
  pool_ = std::make_unique<WorkerPool>(pool_options_);
  dispatcher_ = std::make_unique<Dispatcher>(routes_, Admit(), Observer(), limits_);
  const auto server = HttpServer::start(options_, *dispatcher_, *pool_, *budget_, log_);
  ASSERT_FALSE(server.ok());
  EXPECT_EQ(server.error().code, ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace vesta::server
