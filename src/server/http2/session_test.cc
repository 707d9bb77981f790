// HTTP/2 through a real server: the same routes, rules and limits as over HTTP/1.1.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

#include "base/file.h"
#include "base/mutex.h"
#include "server/http/http_server.h"
#include "server/testing/gate.h"
#include "server/testing/http2_client.h"
#include "server/testing/http_client.h"

namespace vesta::server {
namespace {

using std::chrono::milliseconds;
using testing::eventually;
using ::testing::HasSubstr;
using testing::Http2Client;
using testing::HttpClient;

// A client on a socket.
class Connection {
 public:
  explicit Connection(uint16_t port, uint32_t window = 65'535) : client(window) {
    socket_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  void send() {
    const std::string bytes = client.output();
    size_t at = 0;
    while (at < bytes.size()) {
      const ssize_t sent =
          ::send(socket_.get(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) return void(closed = true);
      at += static_cast<size_t>(sent);
    }
  }
  // Talks until something is true, the server closes, or ten seconds are over.
  template <class Condition>
  bool until(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (std::chrono::steady_clock::now() < deadline) {
      send();
      if (condition()) return true;
      if (closed) return false;
      pollfd ready{socket_.get(), POLLIN, 0};
      if (::poll(&ready, 1, 50) <= 0) continue;
      std::array<char, 65'536> buffer{};
      const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (size <= 0) {
        closed = true;
      } else {
        client.receive({buffer.data(), static_cast<size_t>(size)});
      }
    }
    return false;
  }
  Http2Client::Answer& answer(int32_t stream) {
    until([&] { return client.answers[stream].closed.has_value(); });
    return client.answers[stream];
  }

  Http2Client client;
  bool closed = false;

 private:
  UniqueFd socket_;
};

std::string framed(std::string_view message) {
  std::string out(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(message.size() >> shift);
  return out + std::string(message);
}

class Http2SessionTest : public ::testing::Test {
 protected:
  Http2SessionTest() {
    options_.limits.header_timeout = milliseconds(400);
    options_.limits.body_timeout = milliseconds(400);
    options_.limits.write_timeout = milliseconds(600);
    options_.limits.idle_timeout = milliseconds(400);
    options_.limits.min_bytes_per_second = 64 << 20;
    options_.listeners = {{{"127.0.0.1", 0, false}, {}}};
    add("GET", "/hello", [](const HttpRequest& request, const Caller& caller) {
      return text("hello " + caller.address + " " + std::string(request.parameter("x")));
    });
    add("POST", "/echo",
        [](const HttpRequest& request, const Caller&) { return text(request.body); });
    add("GET", "/large",
        [](const HttpRequest&, const Caller&) { return text(std::string(16 << 20, 'x')); });
    add("GET", "/gate", [this](const HttpRequest&, const Caller&) {
      ++entered_;
      gate_.wait();
      return text("passed");
    });
    RpcMethod method;
    method.path = "/test.v1.Service/Call";
    method.handler = [](std::string_view request, const Caller&) -> Result<std::string> {
      if (request == "fail") return Error{ErrorCode::kNotFound, "nothing here", {}};
      return "re: " + std::string(request);
    };
    routes_.add(std::move(method));
  }
  ~Http2SessionTest() override {
    gate_.open();
    if (server_ != nullptr) server_->stop(milliseconds(5000));
    pool_.reset();
    server_.reset();
  }
  static HttpResponse text(std::string body) {
    HttpResponse response;
    response.content_type = "text/plain";
    response.body = std::move(body);
    return response;
  }
  void add(std::string method, std::string path, HttpHandler handler) {
    routes_.add(HttpRoute{std::move(method), std::move(path), Scope::kRead, std::move(handler)});
  }
  uint16_t start() {
    pool_ = std::make_unique<WorkerPool>(pool_options_);
    dispatcher_ = std::make_unique<Dispatcher>(
        routes_,
        [](const Credentials& credentials, Scope) -> Result<Caller> {
          if (credentials.authorization == "Bearer wrong") {
            return Error{ErrorCode::kUnauthenticated, "who are you", {}};
          }
          Caller caller;
          caller.address = credentials.address;
          return caller;
        },
        [this](const RequestRecord& record) {
          const MutexLock guard(lock_);
          records_.push_back(std::string(record.transport) + " " + std::string(record.route) + " " +
                             std::to_string(record.status) + " " + std::string(record.rejected));
        },
        limits_);
    auto server = HttpServer::start(options_, *dispatcher_, *pool_, budget_, log_);
    EXPECT_TRUE(server.ok());
    server_ = std::move(*server);
    return server_->addresses()[0].port;
  }
  std::vector<std::string> records() {
    const MutexLock guard(lock_);
    return records_;
  }

  HttpServerOptions options_;
  WorkerPool::Options pool_options_;
  RequestLimits limits_;
  MemoryBudget budget_{40 << 20};
  Log log_{nullptr, LogFormat::kText, LogLevel::kInfo};
  Routes routes_;
  testing::Gate gate_;
  std::atomic<int> entered_ = 0;
  std::unique_ptr<WorkerPool> pool_;
  std::unique_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<HttpServer> server_;
  Mutex lock_;
  std::vector<std::string> records_ GUARDED_BY(lock_);
};

TEST_F(Http2SessionTest, ServesPlainRoutesBesideHttp1) {
  const uint16_t port = start();
  Connection connection(port);
  const int32_t get = connection.client.request("GET", "/hello?x=1");
  const int32_t post = connection.client.request("POST", "/echo", {}, std::string(500'000, 'y'));
  const int32_t head = connection.client.request("HEAD", "/hello");
  const int32_t missing = connection.client.request("GET", "/nothing");
  EXPECT_EQ(connection.answer(get).body, "hello 127.0.0.1 1");
  EXPECT_EQ(connection.answer(get).headers["content-type"], "text/plain");
  EXPECT_EQ(connection.answer(get).headers["x-content-type-options"], "nosniff");
  EXPECT_EQ(connection.answer(post).body, std::string(500'000, 'y'));
  EXPECT_EQ(connection.answer(head).headers["content-length"], "16");
  EXPECT_EQ(connection.answer(head).body, "");
  EXPECT_EQ(connection.answer(missing).headers[":status"], "404");
  HttpClient old(port);
  EXPECT_EQ(old.get("/hello")->status, 200);
  EXPECT_EQ(server_->stats().connections, 2u);
}

TEST_F(Http2SessionTest, PrefaceMayComeInPieces) {
  HttpClient client(start());
  ASSERT_TRUE(client.send("PRI * HT"));
  EXPECT_FALSE(client.closed_within(milliseconds(50)));
  ASSERT_TRUE(client.send("TP/1.1\r\n\r\n"));
  const auto reply = client.read_reply();
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->status, 400);
}

TEST_F(Http2SessionTest, ServesGrpcWithTrailers) {
  Connection connection(start());
  const auto call = [&](const std::string& path, const std::string& message, Fields more = {}) {
    more.emplace_back("content-type", "application/grpc");
    more.emplace_back("te", "trailers");
    return connection.answer(connection.client.request("POST", path, more, framed(message)));
  };
  Http2Client::Answer answer = call("/test.v1.Service/Call", "question");
  EXPECT_EQ(answer.headers[":status"], "200");
  EXPECT_EQ(answer.body, framed("re: question"));
  EXPECT_EQ(answer.trailers["grpc-status"], "0");
  answer = call("/test.v1.Service/Call", "fail");
  EXPECT_EQ(answer.headers[":status"], "200");
  EXPECT_EQ(answer.headers["grpc-status"], "5");
  EXPECT_EQ(answer.headers["grpc-message"], "nothing here");
  answer = call("/test.v1.Service/Call", "q", {{"authorization", "Bearer wrong"}});
  EXPECT_EQ(answer.headers[":status"], "200");
  EXPECT_EQ(answer.headers["grpc-status"], "16");
  EXPECT_EQ(call("/test.v1.Service/Other", "q").headers["grpc-status"], "12");
  // A body that is not what its head says fails before gRPC looks at it.
  EXPECT_EQ(
      call("/test.v1.Service/Call", "q", {{"content-encoding", "gzip"}}).headers["grpc-status"],
      "3");
  EXPECT_THAT(records(), ::testing::ElementsAre(
                             "grpc /test.v1.Service/Call 200 ", "grpc /test.v1.Service/Call 404 ",
                             "grpc /test.v1.Service/Call 401 unauthenticated",
                             "grpc  404 not_found", "grpc /test.v1.Service/Call 400 "));
}

TEST_F(Http2SessionTest, RefusesWithoutReadingTheBody) {
  Connection connection(start());
  const int32_t stream = connection.client.request(
      "POST", "/echo", {{"authorization", "Bearer wrong"}}, std::string(100'000, 'y'), false);
  EXPECT_EQ(connection.answer(stream).headers[":status"], "401");
  EXPECT_THAT(connection.answer(stream).body, HasSubstr("who are you"));
  EXPECT_EQ(connection.answer(connection.client.request("GET", "/hello")).headers[":status"],
            "200");
}

TEST_F(Http2SessionTest, WorkOfStreamsThatWereResetCounts) {
  pool_options_.read_threads = 1;
  Connection connection(start());
  const int32_t first = connection.client.request("GET", "/gate");
  ASSERT_TRUE(connection.until([&] { return entered_ == 1; }));
  for (int i = 0; i < 127; ++i) {
    const int32_t stream = connection.client.request("GET", "/gate");
    connection.send();
    connection.client.reset(stream);
    connection.send();
  }
  ASSERT_TRUE(connection.until([&] { return pool_->queued() == 127; }));
  EXPECT_EQ(connection.answer(connection.client.request("GET", "/gate")).headers[":status"], "503");
  gate_.open();
  EXPECT_EQ(connection.answer(first).body, "passed");
  ASSERT_TRUE(eventually([&] { return pool_->queued() == 0 && pool_->running() == 0; }));
  // What nobody waited for any more was not begun.
  EXPECT_EQ(entered_, 1);
  EXPECT_EQ(connection.answer(connection.client.request("GET", "/gate")).body, "passed");
}

TEST_F(Http2SessionTest, StopsWhenRequestsAreAnswered) {
  Connection connection(start());
  const int32_t stream = connection.client.request("GET", "/gate");
  ASSERT_TRUE(connection.until([&] { return entered_ == 1; }));
  std::thread stopping([&] { server_->stop(milliseconds(10'000)); });
  ASSERT_TRUE(connection.until([&] { return connection.client.goaway.has_value(); }));
  gate_.open();
  EXPECT_EQ(connection.answer(stream).body, "passed");
  connection.until([&] { return connection.closed; });
  EXPECT_TRUE(connection.closed);
  stopping.join();
}

TEST_F(Http2SessionTest, ClosesSilentAndIdleConnections) {
  const uint16_t port = start();
  HttpClient silent(port);
  ASSERT_TRUE(silent.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
  EXPECT_TRUE(silent.closed_within(milliseconds(8000)));
  Connection idle(port);
  EXPECT_EQ(idle.answer(idle.client.request("GET", "/hello")).headers[":status"], "200");
  idle.until([&] { return idle.closed; });
  EXPECT_TRUE(idle.closed);
  EXPECT_TRUE(eventually([&] { return server_->stats().connections == 0; }));
}

TEST_F(Http2SessionTest, AnswersThatAreNotTakenAreGivenUp) {
  Connection connection(start(), 0);
  const int32_t stream = connection.client.request("GET", "/large");
  EXPECT_EQ(connection.answer(stream).closed, NGHTTP2_CANCEL);
  EXPECT_EQ(connection.answer(stream).body, "");
  EXPECT_EQ(server_->stats().timeouts, 1u);
}

TEST_F(Http2SessionTest, AnswersThatAreNotTakenAreBoundedTogether) {
  limits_.answer_bytes = 40 << 20;
  Connection connection(start(), 0);
  std::vector<int32_t> streams;
  for (int i = 0; i < 4; ++i) streams.push_back(connection.client.request("GET", "/large"));
  ASSERT_TRUE(connection.until([&] {
    return std::ranges::all_of(streams, [&](int32_t stream) {
      return !connection.client.answers[stream].headers.empty();
    });
  }));
  EXPECT_EQ(std::ranges::count_if(streams,
                                  [&](int32_t stream) {
                                    return connection.client.answers[stream].headers[":status"] ==
                                           "503";
                                  }),
            2);
  for (const int32_t stream : streams) connection.answer(stream);
  EXPECT_TRUE(eventually([&] { return dispatcher_->answers().used() == 0; }));
}

TEST_F(Http2SessionTest, FloodsEndTheConnection) {
  Connection connection(start());
  connection.until([&] {
    for (int i = 0; i < 1000; ++i) connection.client.ping();
    return false;
  });
  EXPECT_TRUE(connection.closed);
  EXPECT_GE(server_->stats().malformed, 1u);
}

}  // namespace
}  // namespace vesta::server
