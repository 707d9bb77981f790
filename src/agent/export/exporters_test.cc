// Exporters as the agent uses them, against servers that are there, slow, broken or gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "agent/export/codecs/test_window.h"
#include "agent/export/make_exporter.h"
#include "agent/export/queue/test_clock.h"
#include "agent/export/test_http_server.h"
#include "base/test_requirements.h"
#include "base/time.h"
#include "formats/common/compression.h"
#include "formats/otlp/reader.h"
#include "formats/protobuf/wire.h"
#include "profile/test_profiles.h"
#include "server/grpc/grpc_server.h"
#include "server/http/http_server.h"
#include "server/ingest/routes.h"
#include "server/testing/certificates.h"
#include "server/testing/http_client.h"
#include "store/memory/memory_engine.h"
#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

using server::testing::Certificates;
using server::testing::eventually;
using std::chrono::seconds;
using test::TestHttpServer;
using test::TestRequest;
using test::window_of;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::chrono::steady_clock::time_point in(seconds time) {
  return std::chrono::steady_clock::now() + time;
}

std::string partial_success(uint64_t rejected, std::string_view message) {
  WireWriter partial;
  partial.uint64(1, rejected);
  partial.bytes(2, message);
  WireWriter response;
  response.message(1, partial);
  return response.take();
}

class ExportersTest : public ::testing::Test {
 protected:
  ExportersTest() {
    config_.name = "test";
    config_.upload_interval_ns = kHour;  // flush() decides
    environment_.state = folder_.path("state");
    environment_.version = "1.2.3";
  }
  std::unique_ptr<Exporter> make(ExporterKind kind, const std::string& endpoint) {
    config_.kind = kind;
    config_.endpoint = endpoint;
    auto exporter = make_exporter(config_, environment_);
    EXPECT_TRUE(exporter.ok()) << exporter.error().message;
    if (!exporter) return nullptr;
    // What it does at its start, with an empty queue, must not meet what a test puts there.
    (*exporter)->flush(in(seconds(10)));
    return std::move(*exporter);
  }
  static void check_sums(const ExporterStats& stats) {
    EXPECT_EQ(stats.taken, stats.sent + stats.queued + stats.rejected + stats.expired);
    uint64_t lost = 0;
    for (const auto& [reason, count] : stats.lost_by_reason) lost += count;
    EXPECT_EQ(lost, stats.rejected + stats.expired);
  }
  // One window of three processes to a server that answers with these bytes.
  ExporterStats send_to(const TestHttpServer& server, ExporterKind kind = ExporterKind::kOtlpHttp) {
    auto exporter = make(kind, server.url());
    EXPECT_TRUE(exporter->take(window_of(3)).ok());
    exporter->flush(in(seconds(20)));
    const ExporterStats stats = exporter->stats();
    check_sums(stats);
    return stats;
  }
  static ExporterStats expect_queued(const ExporterStats& stats) {
    EXPECT_EQ(stats.queued, 3U);
    EXPECT_EQ(stats.sent, 0U);
    EXPECT_GE(stats.failures, 1U);
    EXPECT_NE(stats.last_error, "");
    return stats;
  }

  TemporaryFolder folder_;
  ExporterConfig config_;
  ExportEnvironment environment_;
};

TEST_F(ExportersTest, OtlpHttpSendsGzipWithItsHeaders) {
  const TestHttpServer server([](const TestRequest&) { return TestHttpServer::reply(200); });
  config_.headers = {{"Authorization", "Bearer s3cret"}};
  EXPECT_EQ(send_to(server).sent, 3U);
  ASSERT_EQ(server.requests().size(), 1U);
  const TestRequest request = server.requests()[0];
  EXPECT_EQ(request.target, "/v1development/profiles");
  EXPECT_TRUE(request.has("content-type: application/x-protobuf"));
  EXPECT_TRUE(request.has("content-encoding: gzip"));
  EXPECT_TRUE(request.has("authorization: bearer s3cret"));
  EXPECT_TRUE(request.has("user-agent: vesta/1.2.3"));
  const auto body = gunzip(request.body, 1 << 20);
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(read_otlp(*body, {})->profiles.size(), 3U);
}

TEST_F(ExportersTest, OtlpHttpSendsPlainWhenTold) {
  const TestHttpServer server([](const TestRequest&) { return TestHttpServer::reply(200); });
  config_.gzip = false;
  EXPECT_EQ(send_to(server).sent, 3U);
  EXPECT_FALSE(server.requests()[0].has("content-encoding"));
  EXPECT_TRUE(read_otlp(server.requests()[0].body, {}).ok());
}

TEST_F(ExportersTest, AServerThatIsDownCostsNothing) {
  auto exporter = make(ExporterKind::kOtlpHttp, "http://127.0.0.1:9");
  ASSERT_TRUE(exporter->take(window_of(3)).ok());
  exporter->flush(in(seconds(20)));
  expect_queued(exporter->stats());
  exporter.reset();
  // Another run, and the server is back.
  const TestHttpServer server([](const TestRequest&) { return TestHttpServer::reply(200); });
  config_.endpoint = server.url();
  auto again = make_exporter(config_, environment_);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(eventually([&] { return (*again)->stats().sent == 3; }));
  check_sums((*again)->stats());
}

TEST_F(ExportersTest, ASlowServerIsGivenUpInTime) {
  std::atomic<bool> done = false;
  const TestHttpServer server([&](const TestRequest&) {
    while (!done) std::this_thread::yield();
    return TestHttpServer::reply(200);
  });
  config_.timeout_ns = 200'000'000;
  expect_queued(send_to(server));
  done = true;
}

TEST_F(ExportersTest, StoppingDoesNotWaitForASlowServer) {
  std::atomic<bool> done = false;
  const TestHttpServer server([&](const TestRequest&) {
    while (!done) std::this_thread::yield();
    return TestHttpServer::reply(200);
  });
  auto exporter = make(ExporterKind::kOtlpHttp, server.url());
  ASSERT_TRUE(exporter->take(window_of(1)).ok());
  exporter->flush(std::chrono::steady_clock::now() + std::chrono::milliseconds(300));
  const auto start = std::chrono::steady_clock::now();
  exporter.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(10)) << "of a timeout of 30";
  done = true;
}

TEST_F(ExportersTest, FailuresOfServersAreTriedAgain) {
  const std::string answers[] = {
      TestHttpServer::reply(500),
      TestHttpServer::reply(503, "", "Retry-After: 3600\r\n"),
      TestHttpServer::reply(429),
      TestHttpServer::reply(408),
      "garbage that is not HTTP\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncut off",
      "",  // hangs up
      TestHttpServer::reply(200, "<html>", "Content-Type: text/html\r\n"),
      TestHttpServer::reply(200, "this is no response"),
      TestHttpServer::reply(302, "", "Location: http://127.0.0.1:9/\r\n")};
  int number = 0;
  for (const std::string& answer : answers) {
    const TestHttpServer server([&](const TestRequest&) { return answer; });
    config_.name = "test-" + std::to_string(number++);
    SCOPED_TRACE(answer);
    expect_queued(send_to(server));
  }
}

TEST_F(ExportersTest, ARefusalIsCountedWithItsReason) {
  const TestHttpServer server([](const TestRequest&) {
    return TestHttpServer::reply(400, R"({"message":"no such thing"})",
                                 "Content-Type: application/json\r\n");
  });
  const ExporterStats stats = send_to(server);
  EXPECT_EQ(stats.rejected, 3U);
  EXPECT_THAT(stats.lost_by_reason, ElementsAre(Pair("HTTP 400: no such thing", 3)));
}

TEST_F(ExportersTest, PartialSuccessIsCountedInProfiles) {
  const TestHttpServer server([](const TestRequest&) {
    // Two of six: a profile of ours is two of OTLP's.
    return TestHttpServer::reply(200, partial_success(2, "too old"));
  });
  const ExporterStats stats = send_to(server);
  EXPECT_EQ(stats.sent, 2U);
  EXPECT_THAT(stats.lost_by_reason, ElementsAre(Pair("too old", 1)));
}

TEST_F(ExportersTest, WhatIsTooLargeIsHalved) {
  const TestHttpServer server([](const TestRequest& request) {
    const auto body = gunzip(request.body, 1 << 20);
    const bool fits = body && read_otlp(*body, {})->profiles.size() == 1;
    return TestHttpServer::reply(fits ? 200 : 413);
  });
  EXPECT_EQ(send_to(server).sent, 3U);
}

TEST_F(ExportersTest, LogsGoToTheirPath) {
  const TestHttpServer server([](const TestRequest&) { return TestHttpServer::reply(200); });
  EXPECT_EQ(send_to(server, ExporterKind::kOtlpLogs).sent, 3U);
  EXPECT_EQ(server.requests()[0].target, "/v1/logs");
}

TEST_F(ExportersTest, PyroscopeIngestSendsAFormForEachProfile) {
  const TestHttpServer server([](const TestRequest&) { return TestHttpServer::reply(200); });
  EXPECT_EQ(send_to(server, ExporterKind::kPyroscopeIngest).sent, 3U);
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_THAT(requests[0].target, HasSubstr("/ingest?name=service-0%7Bhost_name%3Dnode-1%2C"));
  EXPECT_THAT(requests[0].target, HasSubstr("&from=1800000000000000000&until=1800000010000000000"));
  EXPECT_THAT(requests[0].target, HasSubstr("&sampleRate=99"));
  EXPECT_THAT(requests[0].body, HasSubstr("name=\"profile\"; filename=\"profile.pprof\""));
}

TEST_F(ExportersTest, BadConfigurationsAreRefusedWithWords) {
  const auto problem = [&](auto&& change) {
    ExporterConfig config = config_;
    config.kind = ExporterKind::kOtlpHttp;
    config.endpoint = "http://localhost:1";
    change(config);
    const auto made = make_exporter(config, environment_);
    return made.ok() ? std::string("fine") : made.error().message;
  };
  EXPECT_THAT(problem([](auto& c) { c.endpoint = "localhost:4318"; }), HasSubstr("is no URL"));
  EXPECT_THAT(problem([](auto& c) { c.name = "../x"; }), HasSubstr("is not a valid exporter name"));
  EXPECT_THAT(problem([](auto& c) { c.tls.cert_file = "x"; }), HasSubstr("must be set together"));
  EXPECT_THAT(problem([](auto& c) { c.headers = {{"X", "a\r\nEvil: b"}}; }), HasSubstr("header"));
  EXPECT_THAT(problem([](auto& c) { c.kind = ExporterKind::kFiles; }),
              HasSubstr("directory is missing"));
  EXPECT_THAT(problem([](auto& c) {
                c.kind = ExporterKind::kOtlpGrpc;
                c.endpoint = "ftp://x:1";
              }),
              HasSubstr("is not a valid gRPC endpoint"));
  EXPECT_THAT(problem([](auto& c) {
                c.kind = ExporterKind::kOtlpGrpc;
                c.endpoint = "https://x:1";
                c.tls.ca_file = "/does/not/exist";
              }),
              HasSubstr("/does/not/exist"));
}

TEST_F(ExportersTest, FilesAreWrittenWholeAndTheOldestGo) {
  config_.directory = folder_.path("profiles");
  config_.max_files = 5;
  std::filesystem::create_directories(config_.directory);
  std::ofstream(config_.directory + "/other.pb.gz") << "somebody else's";
  auto exporter = make(ExporterKind::kFiles, "");
  for (int window = 0; window < 3; ++window) {
    ASSERT_TRUE(exporter->take(window_of(3, test::kWindowTime + window * 10'000'000'000)).ok());
    exporter->flush(in(seconds(20)));
  }
  EXPECT_EQ(exporter->stats().sent, 9U);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(config_.directory))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  EXPECT_THAT(names,
              ElementsAre("other.pb.gz", "service-0_1000_20270115T080020.000Z_process_cpu.pb.gz",
                          "service-1_1001_20270115T080010.000Z_process_cpu.pb.gz",
                          "service-1_1001_20270115T080020.000Z_process_cpu.pb.gz",
                          "service-2_1002_20270115T080010.000Z_process_cpu.pb.gz",
                          "service-2_1002_20270115T080020.000Z_process_cpu.pb.gz"));
}

TEST_F(ExportersTest, FilesAreForTheirOwnerAlone) {
  const mode_t mask = ::umask(0);
  config_.directory = folder_.path("profiles");
  auto exporter = make(ExporterKind::kFiles, "");
  ASSERT_TRUE(exporter->take(window_of(2, test::kWindowTime)).ok());
  exporter->flush(in(seconds(20)));
  ::umask(mask);
  namespace fs = std::filesystem;
  EXPECT_EQ(fs::status(config_.directory).permissions(), fs::perms::owner_all);
  for (const auto& entry : fs::directory_iterator(config_.directory)) {
    EXPECT_EQ(entry.status().permissions(), fs::perms::owner_read | fs::perms::owner_write)
        << entry.path();
  }
}

TEST_F(ExportersTest, FilesDoNotFollowLinksThatOthersPlanted) {
  config_.directory = folder_.path("profiles");
  std::filesystem::create_directories(config_.directory);
  const std::string victim = folder_.path("victim");
  std::ofstream(victim) << "precious";
  auto exporter = make(ExporterKind::kFiles, "");
  const std::string name =
      config_.directory + "/service-0_1000_20270115T080000.000Z_process_cpu.pb.gz";
  std::filesystem::create_symlink(victim, name + ".tmp");
  ASSERT_TRUE(exporter->take(window_of(1)).ok());
  exporter->flush(in(seconds(20)));
  EXPECT_EQ(exporter->stats().sent, 1U);
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(name)));
  std::ifstream in_victim(victim);
  std::string text;
  std::getline(in_victim, text);
  EXPECT_EQ(text, "precious");
}

TEST_F(ExportersTest, AFullDiskOfFilesIsCountedAndRecovers) {
  config_.directory = folder_.path("profiles");
  auto exporter = make(ExporterKind::kFiles, "");
  ASSERT_TRUE(exporter->take(window_of(1)).ok());
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = before;
  limit.rlim_cur = 150;  // enough for the queue's position, too little for a profile
  auto* handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &limit);
  exporter->flush(in(seconds(20)));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(exporter->stats().last_error, HasSubstr("cannot write"));
  EXPECT_EQ(exporter->stats().queued, 1U);
  exporter->flush(in(seconds(20)));
  EXPECT_EQ(exporter->stats().sent, 1U);
  check_sums(exporter->stats());
}

// A server of ours around an engine in memory, over HTTP and gRPC.
class VestaServer {
 public:
  explicit VestaServer(const server::TlsFiles& tls = {}) {
    IngestOptions options;
    options.clock = [] { return UnixNs(test::kWindowTime + 20 * kSecond); };
    ingest_ = std::make_unique<Ingest>(*engine_, options);
    server::add_ingest_routes(routes_, *ingest_);
    start(tls);
  }
  VestaServer(const server::TlsFiles& tls, server::RpcMethod method) {
    routes_.add(std::move(method));
    start(tls);
  }
  ~VestaServer() {
    grpc_.reset();
    http_.reset();
    pool_.stop();
  }
  std::string http() const { return "127.0.0.1:" + std::to_string(http_->addresses()[0].port); }
  std::string grpc() const { return "127.0.0.1:" + std::to_string(grpc_->address().port); }
  uint64_t series() const { return engine_->stats().series; }

 private:
  void start(const server::TlsFiles& tls) {
    dispatcher_ = std::make_unique<server::Dispatcher>(
        routes_,
        [](const server::Credentials& credentials, server::Scope) -> Result<server::Caller> {
          server::Caller caller;
          caller.token = credentials.authorization;
          return caller;
        },
        server::Observer(), server::RequestLimits());
    server::HttpServerOptions http;
    http.listeners = {{{"127.0.0.1", 0, false}, {}}};
    http.tls = tls;
    auto http_server = server::HttpServer::start(http, *dispatcher_, pool_, budget_, log_);
    EXPECT_TRUE(http_server.ok());
    http_ = std::move(*http_server);
    server::GrpcServerOptions grpc;
    grpc.address = {"127.0.0.1", 0, false};
    grpc.tls = tls;
    auto grpc_server = server::GrpcServer::start(grpc, *dispatcher_, pool_, budget_, log_);
    EXPECT_TRUE(grpc_server.ok());
    grpc_ = std::move(*grpc_server);
  }

  const std::unique_ptr<Engine> engine_ = make_memory_engine();
  std::unique_ptr<Ingest> ingest_;
  server::Routes routes_;
  server::MemoryBudget budget_{uint64_t{512} << 20};
  Log log_{nullptr, LogFormat::kText, LogLevel::kInfo};
  server::WorkerPool pool_{server::WorkerPool::Options()};
  std::unique_ptr<server::Dispatcher> dispatcher_;
  std::unique_ptr<server::HttpServer> http_;
  std::unique_ptr<server::GrpcServer> grpc_;
};

TEST_F(ExportersTest, EveryProtocolReachesAServerOfOurs) {
  const ExporterKind kinds[] = {ExporterKind::kOtlpGrpc, ExporterKind::kOtlpHttp,
                                ExporterKind::kPyroscopePush, ExporterKind::kPyroscopeIngest};
  for (const ExporterKind kind : kinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    const VestaServer server;
    config_.name = "test-" + std::to_string(static_cast<int>(kind));
    const bool is_grpc = kind == ExporterKind::kOtlpGrpc;
    auto exporter = make(kind, is_grpc ? server.grpc() : "http://" + server.http());
    ASSERT_TRUE(exporter->take(window_of(3)).ok());
    exporter->flush(in(seconds(30)));
    EXPECT_EQ(exporter->stats().sent, 3U) << exporter->stats().last_error;
    check_sums(exporter->stats());
    EXPECT_EQ(exporter->stats().last_error, "");
    EXPECT_EQ(server.series(), 6U) << "two types of three services";
  }
}

constexpr const char* kExport =
    "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export";

TEST_F(ExportersTest, GrpcAnswersMeanWhatTheyShould) {
  Result<std::string> answer = std::string();
  std::atomic<size_t> largest = SIZE_MAX;
  const auto handle = [&](std::string_view request, const server::Caller&) -> Result<std::string> {
    const auto batch = read_otlp(request, {});
    if (batch && batch->profiles.size() > largest)
      return Error{ErrorCode::kLimit, "larger than allowed", ""};
    return answer;
  };
  const VestaServer server({}, {kExport, server::Scope::kWrite, handle, nullptr, nullptr});
  int number = 0;
  const auto send = [&] {
    config_.name = "test-" + std::to_string(number++);
    auto exporter = make(ExporterKind::kOtlpGrpc, server.grpc());
    EXPECT_TRUE(exporter->take(window_of(3)).ok());
    exporter->flush(in(seconds(30)));
    ExporterStats stats = exporter->stats();
    check_sums(stats);
    return stats;
  };
  EXPECT_EQ(send().sent, 3U);
  answer = partial_success(2, "too old");
  EXPECT_THAT(send().lost_by_reason, ElementsAre(Pair("too old", 1)));
  answer = std::string("garbage");
  expect_queued(send());
  answer = Error{ErrorCode::kUnavailable, "full", ""};
  expect_queued(send());
  answer = Error{ErrorCode::kTooMany, "slow down, size does not matter", ""};
  expect_queued(send());
  answer = Error{ErrorCode::kIo, "oops", ""};
  expect_queued(send());
  answer = Error{ErrorCode::kInvalidInput, "bad index", ""};
  EXPECT_THAT(send().lost_by_reason, ElementsAre(Pair("gRPC 3: bad index", 3)));
  answer = std::string();
  largest = 1;
  EXPECT_EQ(send().sent, 3U) << "halved until it fits";
  largest = 0;
  EXPECT_EQ(send().rejected, 3U);
}

TEST_F(ExportersTest, AGrpcServerThatIsDownOrNoneCostsNothing) {
  config_.timeout_ns = 2'000'000'000;
  auto exporter = make(ExporterKind::kOtlpGrpc, "127.0.0.1:9");
  ASSERT_TRUE(exporter->take(window_of(3)).ok());
  exporter->flush(in(seconds(20)));
  expect_queued(exporter->stats());
  const TestHttpServer garbage([](const TestRequest&) { return "SSH-2.0 hello\r\n"; });
  config_.name = "other";
  auto other = make(ExporterKind::kOtlpGrpc, garbage.url());
  ASSERT_TRUE(other->take(window_of(3)).ok());
  other->flush(in(seconds(20)));
  expect_queued(other->stats());
}

TEST_F(ExportersTest, TlsIsVerifiedByOurAuthorityAndByTheirs) {
  const Certificates certificates;
  VESTA_REQUIRE_OR_SKIP(
      certificates.ok() && certificates.issue("server") && certificates.issue("client"),
      "needs the openssl command");
  server::TlsFiles tls;
  tls.certificate = certificates.certificate("server");
  tls.key = certificates.key("server");
  tls.client_ca = certificates.ca();
  const VestaServer server(tls);
  int number = 0;
  const auto send = [&](ExporterKind kind, const ExporterTls& ours) {
    config_.name = "test-" + std::to_string(number++);
    config_.tls = ours;
    config_.timeout_ns = 5'000'000'000;
    const bool is_grpc = kind == ExporterKind::kOtlpGrpc;
    auto exporter = make(kind, "https://" + (is_grpc ? server.grpc() : server.http()));
    EXPECT_TRUE(exporter->take(window_of(1)).ok());
    exporter->flush(in(seconds(20)));
    return exporter->stats();
  };
  const std::string cert = certificates.certificate("client");
  const std::string key = certificates.key("client");
  for (const ExporterKind kind : {ExporterKind::kOtlpGrpc, ExporterKind::kOtlpHttp}) {
    SCOPED_TRACE(static_cast<int>(kind));
    EXPECT_EQ(send(kind, {certificates.ca(), cert, key, false}).sent, 1U);
    EXPECT_EQ(send(kind, {certificates.ca(), "", "", false}).queued, 1U) << "shows no certificate";
    EXPECT_EQ(send(kind, {"", cert, key, false}).queued, 1U) << "trusts others only";
    EXPECT_EQ(send(kind, {"", cert, key, true}).sent, 1U) << "trusts anybody";
  }
}

}  // namespace
}  // namespace vesta::agent
