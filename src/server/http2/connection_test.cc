#include "server/http2/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <map>
#include <vector>

#include "server/testing/http2_client.h"

namespace vesta::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Http2Client;
using ::testing::Pair;

class Http2ConnectionTest : public ::testing::Test, public Http2Requests {
 protected:
  void start() {
    server_ = std::make_unique<Http2Connection>(limits_, budget_, counters_, *this, now_);
  }
  ~Http2ConnectionTest() override { server_.reset(); }

  void on_head(int32_t stream, Http2Message& message) override {
    heads_.push_back(message.target);
    if (message.target == "/refused") reply(stream, 403, "no");
  }
  void on_request(int32_t stream, Http2Message message) override {
    requests_.push_back(message.request.method + " " + message.target + " " + message.authority);
    bodies_.push_back(message.request.body);
    if (message.target == "/waits") {
      held_.emplace(stream, std::move(message));
      return;
    }
    if (message.target == "/large") return reply(stream, 200, std::string(1 << 20, 'x'));
    if (message.target == "/trailers") {
      HttpResponse response;
      response.body = "body";
      response.headers = {{"Content-Type", "application/grpc"},
                          {"Connection", "close"},
                          {"trailer:Grpc-Status", "0"}};
      return server_->answer(stream, std::move(response), false, {}, now_);
    }
    reply(stream, 200, "hello");
  }
  void on_problem(int32_t stream, const Http2Message&, Http2Problem problem) override {
    problems_.push_back(problem);
    reply(stream, 400, "problem");
  }
  void on_end(int32_t stream) override { ended_.push_back(stream); }

  void reply(int32_t stream, int status, std::string body) {
    HttpResponse response;
    response.status = status;
    response.body = std::move(body);
    server_->answer(stream, std::move(response), false, {}, now_);
  }

  // Until nobody has anything to say.
  void talk(Http2Client& client) {
    while (true) {
      const std::string up = client.output();
      if (!up.empty()) server_->receive(up, now_);
      const std::string down = server_->take_output(now_);
      if (!down.empty()) client.receive(down);
      if (up.empty() && down.empty()) return;
    }
  }

  Http2Limits limits_;
  MemoryBudget budget_{8 << 20};
  HttpCounters counters_;
  Http2Time now_ = Http2Time() + std::chrono::hours(1);
  std::unique_ptr<Http2Connection> server_;
  std::vector<std::string> heads_;
  std::vector<std::string> requests_;
  std::vector<std::string> bodies_;
  std::vector<Http2Problem> problems_;
  std::vector<int32_t> ended_;
  std::map<int32_t, Http2Message> held_;
};

TEST_F(Http2ConnectionTest, AnswersRequestsOfOneConnection) {
  start();
  Http2Client client;
  const int32_t first = client.request("GET", "/a?b=1");
  const int32_t second = client.request("POST", "/b", {}, std::string(300'000, 'y'));
  talk(client);
  EXPECT_THAT(requests_, ElementsAre("GET /a?b=1 localhost", "POST /b localhost"));
  EXPECT_EQ(bodies_[1], std::string(300'000, 'y'));
  EXPECT_EQ(client.answers[first].headers[":status"], "200");
  EXPECT_EQ(client.answers[second].body, "hello");
  EXPECT_EQ(client.answers[second].closed, NGHTTP2_NO_ERROR);
  EXPECT_EQ(server_->streams(), 0u);
  EXPECT_EQ(budget_.used(), 0u);
}

TEST_F(Http2ConnectionTest, TakesBytesOneByOne) {
  start();
  Http2Client client;
  const int32_t stream = client.request("POST", "/b", {}, "body");
  for (int round = 0; round < 3; ++round) {
    for (const char byte : client.output()) server_->receive({&byte, 1}, now_);
    client.receive(server_->take_output(now_));
  }
  EXPECT_EQ(client.answers[stream].body, "hello");
}

TEST_F(Http2ConnectionTest, SendsTrailersBehindTheBodyAndNothingOfHttp1) {
  start();
  Http2Client client;
  const int32_t stream = client.request("GET", "/trailers");
  talk(client);
  const Http2Client::Answer& answer = client.answers[stream];
  EXPECT_EQ(answer.body, "body");
  EXPECT_THAT(answer.trailers, ElementsAre(Pair("grpc-status", "0")));
  EXPECT_THAT(answer.headers, Contains(Pair("content-type", "application/grpc")));
  EXPECT_FALSE(answer.headers.contains("connection"));
  EXPECT_TRUE(answer.ended);
}

TEST_F(Http2ConnectionTest, RefusalEndsTheStreamBeforeItsBody) {
  start();
  Http2Client client;
  const int32_t stream = client.request("POST", "/refused", {}, "part", false);
  talk(client);
  EXPECT_EQ(client.answers[stream].headers[":status"], "403");
  EXPECT_EQ(client.answers[stream].closed, NGHTTP2_NO_ERROR);
  EXPECT_EQ(server_->streams(), 0u);
  EXPECT_TRUE(requests_.empty());
}

TEST_F(Http2ConnectionTest, AnswerFollowsTheClientsWindow) {
  start();
  Http2Client client(0);
  const int32_t stream = client.request("GET", "/large");
  talk(client);
  EXPECT_EQ(client.answers[stream].body.size(), 0u);
  EXPECT_EQ(server_->unsent_bytes(), 1u << 20);
  // Who takes nothing is not waited for.
  now_ = server_->deadline();
  EXPECT_LE(now_, Http2Time() + std::chrono::hours(1) + limits_.http.write_timeout + seconds(65));
  server_->tick(now_);
  talk(client);
  EXPECT_EQ(client.answers[stream].closed, NGHTTP2_CANCEL);
  EXPECT_EQ(server_->unsent_bytes(), 0u);
  EXPECT_EQ(server_->streams(), 0u);
  EXPECT_EQ(counters_.timeouts, 1u);
}

TEST_F(Http2ConnectionTest, SlowBodyIsCancelled) {
  start();
  Http2Client client;
  const int32_t stream = client.request("POST", "/b", {}, "part", false);
  talk(client);
  EXPECT_TRUE(requests_.empty());
  now_ += limits_.http.body_timeout + seconds(1);
  server_->tick(now_);
  talk(client);
  EXPECT_EQ(client.answers[stream].closed, NGHTTP2_CANCEL);
  EXPECT_EQ(counters_.timeouts, 1u);
  EXPECT_EQ(budget_.used(), 0u);
}

TEST_F(Http2ConnectionTest, HeadThatDoesNotEndIsGivenUp) {
  start();
  Http2Client client;
  client.request("GET", "/a", {{"x-long", std::string(8000, 'a')}});
  std::string bytes = client.output();
  bytes.resize(bytes.size() - 100);
  server_->receive(bytes, now_);
  EXPECT_LE(server_->deadline(), now_ + limits_.http.header_timeout);
  now_ += limits_.http.header_timeout;
  server_->tick(now_);
  EXPECT_TRUE(server_->finished());
  EXPECT_EQ(counters_.timeouts, 1u);
}

TEST_F(Http2ConnectionTest, SilentAndIdleConnectionsEnd) {
  start();
  EXPECT_EQ(server_->deadline(), now_ + limits_.http.header_timeout);
  Http2Client client;
  client.request("GET", "/a");
  talk(client);
  EXPECT_EQ(server_->deadline(), now_ + limits_.http.idle_timeout);
  now_ += limits_.http.idle_timeout;
  server_->tick(now_);
  talk(client);
  EXPECT_EQ(client.goaway, NGHTTP2_NO_ERROR);
  EXPECT_TRUE(server_->finished());
  EXPECT_EQ(counters_.timeouts, 0u);
}

TEST_F(Http2ConnectionTest, LargeHeadIsAnsweredAndHugeOneEndsTheConnection) {
  start();
  Http2Client client;
  Fields fields;
  for (int i = 0; i < 3; ++i) fields.emplace_back("x-long", std::string(15'000, 'a'));
  client.request("GET", "/a", fields);
  talk(client);
  EXPECT_THAT(problems_, ElementsAre(Http2Problem::kHeadSize));
  EXPECT_FALSE(client.goaway.has_value());
  // Named again and again out of the compression table, a few bytes are megabytes.
  fields.clear();
  for (int i = 0; i < 500; ++i) fields.emplace_back("x-again", std::string(3'000, 'b'));
  client.request("GET", "/a", fields);
  talk(client);
  EXPECT_EQ(client.goaway, NGHTTP2_ENHANCE_YOUR_CALM);
  EXPECT_TRUE(server_->finished());
}

TEST_F(Http2ConnectionTest, BodyIsBoundedBySizeAndBudget) {
  limits_.max_body_bytes = 100'000;
  start();
  Http2Client client;
  client.request("POST", "/b", {}, std::string(100'001, 'y'));
  talk(client);
  client.request("POST", "/b", {{"content-length", "100001"}}, "y", false);
  talk(client);
  EXPECT_THAT(problems_, ElementsAre(Http2Problem::kBodySize, Http2Problem::kBodySize));

  MemoryBudget::Lease others(budget_);
  ASSERT_TRUE(others.resize(budget_.total() - 50'000));
  client.request("POST", "/b", {}, std::string(60'000, 'y'));
  talk(client);
  EXPECT_EQ(problems_.back(), Http2Problem::kMemory);
  EXPECT_EQ(budget_.used(), others.bytes());
  EXPECT_TRUE(requests_.empty());
}

TEST_F(Http2ConnectionTest, HeadsThatWaitForBodiesTakeFromTheBudget) {
  start();
  Http2Client client;
  for (int i = 0; i < 10; ++i) {
    client.request("POST", "/b", {{"x-long", std::string(10'000, 'a')}}, "part", false);
  }
  talk(client);
  EXPECT_GE(budget_.used(), 100'000u);
  server_.reset();
  EXPECT_EQ(budget_.used(), 0u);
}

TEST_F(Http2ConnectionTest, StreamsAtATimeAreBounded) {
  limits_.max_streams = 3;
  start();
  Http2Client client;
  talk(client);
  std::vector<int32_t> streams;
  for (int i = 0; i < 5; ++i) streams.push_back(client.request("GET", "/waits"));
  talk(client);
  EXPECT_EQ(held_.size(), 3u);
  EXPECT_EQ(server_->streams(), 3u);
  for (auto& [stream, message] : std::map<int32_t, Http2Message>(std::move(held_))) {
    reply(stream, 200, "now");
  }
  held_.clear();
  talk(client);
  for (auto& [stream, message] : std::map<int32_t, Http2Message>(std::move(held_))) {
    reply(stream, 200, "now");
  }
  talk(client);
  // A client of the same library waits for its turn.
  for (const int32_t stream : streams) EXPECT_EQ(client.answers[stream].body, "now");
}

TEST_F(Http2ConnectionTest, RapidResetsEndTheConnection) {
  start();
  Http2Client client;
  talk(client);
  size_t sent = 0;
  while (!server_->finished() && sent < 5'000) {
    const int32_t stream = client.request("GET", "/waits");
    server_->receive(client.output(), now_);
    client.reset(stream);
    server_->receive(client.output(), now_);
    const std::string down = server_->take_output(now_);
    client.receive(down);
    ++sent;
  }
  EXPECT_LT(sent, 1'000u);
  EXPECT_EQ(client.goaway, NGHTTP2_ENHANCE_YOUR_CALM);
  EXPECT_EQ(counters_.malformed, 1u);
}

TEST_F(Http2ConnectionTest, ResetsNowAndThenAreFine) {
  start();
  Http2Client client;
  for (int i = 0; i < 3'000; ++i) {
    const int32_t stream = client.request("GET", "/waits");
    talk(client);
    client.reset(stream);
    talk(client);
    now_ += milliseconds(50);
  }
  EXPECT_FALSE(client.goaway.has_value());
  EXPECT_EQ(ended_.size(), 3'000u);
}

TEST_F(Http2ConnectionTest, FloodsOfFramesEndTheConnection) {
  const auto frame = [](uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
    std::string out;
    out += static_cast<char>(payload.size() >> 16);
    out += static_cast<char>(payload.size() >> 8);
    out += static_cast<char>(payload.size());
    out += static_cast<char>(type);
    out += static_cast<char>(flags);
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(stream >> shift);
    return out + std::string(payload);
  };
  struct Flood {
    const char* name;
    std::string before;
    std::string frame;
  };
  // HPACK: indexed fields of the static table: POST, http, /, then a literal ":authority: a".
  const std::string head(
      "\x83\x86\x84\x01\x01"
      "a",
      6);
  const std::vector<Flood> floods = {
      {"ping", {}, frame(NGHTTP2_PING, 0, 0, std::string(8, 'p'))},
      {"settings", {}, frame(NGHTTP2_SETTINGS, 0, 0, {})},
      {"priority", {}, frame(NGHTTP2_PRIORITY, 0, 3, std::string("\0\0\0\0\1", 5))},
      {"empty data", frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, head),
       frame(NGHTTP2_DATA, 0, 1, {})},
      {"continuation", frame(NGHTTP2_HEADERS, 0, 1, head), frame(NGHTTP2_CONTINUATION, 0, 1, {})},
  };
  for (const Flood& flood : floods) {
    start();
    server_->receive(std::string(kHttp2Preface) + frame(NGHTTP2_SETTINGS, 0, 0, {}) + flood.before,
                     now_);
    size_t written = 0;
    for (int i = 0; i < 20'000 && !server_->finished(); ++i) {
      server_->receive(flood.frame, now_);
      written += server_->take_output(now_).size();
    }
    EXPECT_TRUE(server_->finished()) << flood.name;
    EXPECT_LT(written, 200'000u) << flood.name;
  }
}

TEST_F(Http2ConnectionTest, UnreadAcknowledgementsCongest) {
  start();
  Http2Client client;
  talk(client);
  for (int i = 0; i < 1000; ++i) client.ping();
  server_->receive(client.output(), now_);
  EXPECT_TRUE(server_->congested());
}

TEST_F(Http2ConnectionTest, WhatIsNotHttp2IsCountedAndEnds) {
  start();
  server_->receive("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nGET / HTTP/1.1\r\n\r\n", now_);
  server_->take_output(now_);
  EXPECT_TRUE(server_->finished());
  EXPECT_EQ(counters_.malformed, 1u);
}

TEST_F(Http2ConnectionTest, GoingAwayLetsRequestsEnd) {
  start();
  Http2Client client;
  const int32_t stream = client.request("GET", "/waits");
  talk(client);
  server_->go_away();
  talk(client);
  EXPECT_EQ(client.goaway, NGHTTP2_NO_ERROR);
  EXPECT_FALSE(server_->finished());
  held_.clear();
  reply(stream, 200, "late");
  talk(client);
  EXPECT_EQ(client.answers[stream].body, "late");
  EXPECT_TRUE(server_->finished());
}

}  // namespace
}  // namespace vesta::server
