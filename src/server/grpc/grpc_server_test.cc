#include "server/grpc/grpc_server.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
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
using testing::eventually;
using ::testing::HasSubstr;

struct Answer {
  grpc::Status status;
  std::string body;
};

std::string file_text(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

class Client {
 public:
  Client(uint16_t port, const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetInt("grpc.use_local_subchannel_pool", 1);
    // By number: the library leaks a little for every name that it looks up.
    channel_ =
        grpc::CreateCustomChannel("ipv4:127.0.0.1:" + std::to_string(port), credentials, arguments);
  }
  explicit Client(uint16_t port) : Client(port, grpc::InsecureChannelCredentials()) {}

  Answer call(const std::string& path, const std::string& body,
              const std::vector<std::pair<std::string, std::string>>& metadata = {},
              grpc_compression_algorithm compression = GRPC_COMPRESS_NONE,
              milliseconds time = milliseconds(20'000)) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + time);
    context.set_compression_algorithm(compression);
    for (const auto& [name, value] : metadata) context.AddMetadata(name, value);
    const grpc::Slice slice(body);
    grpc::ByteBuffer request(&slice, 1);
    grpc::ByteBuffer response;
    grpc::CompletionQueue queue;
    const auto reader = stub.PrepareUnaryCall(&context, path, request, &queue);
    reader->StartCall();
    Answer answer;
    reader->Finish(&response, &answer.status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    std::vector<grpc::Slice> slices;
    if (answer.status.ok()) (void)response.Dump(&slices);
    for (const grpc::Slice& s : slices) {
      answer.body.append(reinterpret_cast<const char*>(s.begin()), s.size());
    }
    return answer;
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
};

class GrpcServerTest : public ::testing::Test {
 protected:
  GrpcServerTest() {
    options_.address = {"127.0.0.1", 0, false};
    add("/test.Service/Echo", [](std::string_view request, const Caller&) -> Result<std::string> {
      return std::string(request);
    });
    add("/test.Service/Size", [](std::string_view request, const Caller&) -> Result<std::string> {
      return std::to_string(request.size());
    });
    add("/test.Service/Who", [](std::string_view, const Caller& caller) -> Result<std::string> {
      return caller.tenant + " " + caller.address + " " + std::string(caller.header("x-extra"));
    });
    add("/test.Service/Gate", [this](std::string_view, const Caller&) -> Result<std::string> {
      gate_.wait();
      return std::string("passed");
    });
    add("/test.Service/Throw", [](std::string_view, const Caller&) -> Result<std::string> {
      throw std::runtime_error("oops");
    });
    add("/test.Service/Fail", [](std::string_view request, const Caller&) -> Result<std::string> {
      return Error{static_cast<ErrorCode>(std::stoi(std::string(request))), "because", "do this"};
    });
  }
  ~GrpcServerTest() override {
    gate_.open();
    server_.reset();
    pool_.reset();
  }
  void add(const std::string& path,
           std::function<Result<std::string>(std::string_view, const Caller&)> handler) {
    routes_.add(RpcMethod{path, Scope::kWrite, std::move(handler), nullptr, nullptr});
  }
  void start() {
    pool_ = std::make_unique<WorkerPool>(WorkerPool::Options());
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
        Observer(), limits_);
    auto server = GrpcServer::start(options_, *dispatcher_, *pool_, budget_, log_);
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
  }
  uint16_t port() const { return server_->address().port; }

  Routes routes_;
  testing::Gate gate_;
  GrpcServerOptions options_;
  RequestLimits limits_;
  MemoryBudget budget_{uint64_t{512} << 20};
  Log log_{nullptr, LogFormat::kText, LogLevel::kInfo};
  std::unique_ptr<WorkerPool> pool_;
  std::unique_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<GrpcServer> server_;
};

TEST_F(GrpcServerTest, TakesNoMoreConnectionsThanItMay) {
  options_.max_connections = 2;
  start();
  std::vector<testing::HttpClient> others;
  others.reserve(2);
  for (int i = 0; i < 2; ++i) others.emplace_back(port());
  ASSERT_TRUE(eventually([&] { return server_->connections().accepted == 2; }));
  Client client(port());
  EXPECT_EQ(client.call("/test.Service/Echo", "abc", {}, GRPC_COMPRESS_NONE, milliseconds(2'000))
                .status.error_code(),
            grpc::StatusCode::UNAVAILABLE);
  EXPECT_GT(server_->connections().refused, 0u);
  others.clear();
  EXPECT_TRUE(
      eventually([&] { return Client(port()).call("/test.Service/Echo", "").status.ok(); }));
}

TEST_F(GrpcServerTest, SlowCallsOfOneTenantLeaveOthersAlone) {
  start();
  constexpr size_t kCalls = 40;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kCalls; ++i) {
    threads.emplace_back([&] {
      Client client(port());
      EXPECT_EQ(client.call("/test.Service/Gate", "", {{"x-scope-orgid", "greedy"}}).body,
                "passed");
    });
  }
  EXPECT_TRUE(eventually([&] { return pool_->running() + pool_->queued() == kCalls; }));
  Client client(port());
  EXPECT_EQ(client.call("/test.Service/Echo", "abc", {{"x-scope-orgid", "modest"}}).body, "abc");
  gate_.open();
  for (std::thread& thread : threads) thread.join();
}

TEST_F(GrpcServerTest, AnswersAnyMethodByItsPath) {
  start();
  Client client(port());
  EXPECT_EQ(client.call("/test.Service/Echo", "abc").body, "abc");
  EXPECT_EQ(client.call("/test.Service/Echo", "").body, "");
  EXPECT_EQ(client.call("/test.Service/Nothing", "").status.error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(client.call("/test.Service/Throw", "").status.error_code(), grpc::StatusCode::INTERNAL);
}

TEST_F(GrpcServerTest, RefusesCallsOfTwoTenants) {
  start();
  Client client(port());
  for (const char* name : {"x-scope-orgid", "authorization"}) {
    EXPECT_EQ(client.call("/test.Service/Who", "", {{name, "a"}, {name, "b"}}).status.error_code(),
              grpc::StatusCode::INVALID_ARGUMENT)
        << name;
  }
}

TEST_F(GrpcServerTest, AnswersCountUntilTheyAreSent) {
  limits_.answer_bytes = 1 << 20;
  start();
  Client client(port());
  const auto large = client.call("/test.Service/Echo", std::string(2 << 20, 'a'));
  EXPECT_EQ(large.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(client.call("/test.Service/Echo", std::string(1 << 19, 'a')).status.ok());
  EXPECT_TRUE(eventually([&] { return dispatcher_->answers().used() == 0; }));
}

TEST_F(GrpcServerTest, TakesAndSendsGzip) {
  start();
  Client client(port());
  const std::string text(1 << 20, 'a');
  EXPECT_EQ(client.call("/test.Service/Size", text, {}, GRPC_COMPRESS_GZIP).body, "1048576");
  EXPECT_EQ(client.call("/test.Service/Echo", text, {}, GRPC_COMPRESS_GZIP).body, text);
  EXPECT_EQ(client.call("/test.Service/Echo", text).body, text);
  EXPECT_EQ(budget_.used(), 0U);
}

TEST_F(GrpcServerTest, MetadataSaysWhoCalls) {
  start();
  Client client(port());
  EXPECT_EQ(client.call("/test.Service/Who", "", {{"x-scope-orgid", "a"}, {"x-extra", "b"}}).body,
            "a 127.0.0.1 b");
  EXPECT_EQ(
      client.call("/test.Service/Who", "", {{"authorization", "Bearer wrong"}}).status.error_code(),
      grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(GrpcServerTest, ErrorsHaveTheirCodeAndHint) {
  start();
  Client client(port());
  const auto fail = [&](ErrorCode code) {
    return client.call("/test.Service/Fail", std::to_string(static_cast<int>(code))).status;
  };
  EXPECT_EQ(fail(ErrorCode::kInvalidInput).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(fail(ErrorCode::kInvalidInput).error_message(), "because; do this");
  EXPECT_EQ(fail(ErrorCode::kLimit).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(fail(ErrorCode::kLimit).error_details(), "");
  EXPECT_EQ(fail(ErrorCode::kTooMany).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(fail(ErrorCode::kTooMany).error_details(), HasSubstr("google.rpc.RetryInfo"));
  EXPECT_EQ(fail(ErrorCode::kUnavailable).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(fail(ErrorCode::kPermission).error_code(), grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(GrpcServerTest, RefusesWhatIsTooLarge) {
  options_.max_message_bytes = 100'000;
  limits_.max_decoded_bytes = 1'000'000;
  start();
  Client client(port());
  EXPECT_EQ(client.call("/test.Service/Size", std::string(200'000, 'x')).status.error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  // Small on the wire, large unpacked.
  const auto bomb =
      client.call("/test.Service/Size", std::string(50 << 20, '\0'), {}, GRPC_COMPRESS_GZIP);
  EXPECT_EQ(bomb.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(bomb.status.error_message(), HasSubstr("the decompressed body exceeds"));
  EXPECT_EQ(budget_.used(), 0U);
}

TEST_F(GrpcServerTest, HonoursDeadlines) {
  start();
  Client client(port());
  const auto answer =
      client.call("/test.Service/Gate", "", {}, GRPC_COMPRESS_NONE, milliseconds(200));
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_F(GrpcServerTest, AnswersHealthChecks) {
  start();
  Client client(port());
  EXPECT_EQ(client.call("/grpc.health.v1.Health/Check", "").body, "\x08\x01");  // SERVING
}

TEST_F(GrpcServerTest, StopsAfterCallsInFlight) {
  start();
  Client client(port());
  Answer answer;
  std::thread calling([&] { answer = client.call("/test.Service/Gate", ""); });
  gate_.wait_for_visitors(1);
  std::thread stopping([this] { server_->stop(milliseconds(20'000)); });
  gate_.open();
  stopping.join();
  calling.join();
  EXPECT_TRUE(answer.status.ok()) << answer.status.error_message();
  EXPECT_EQ(answer.body, "passed");
}

TEST_F(GrpcServerTest, SaysWhichAddressIsTaken) {
  start();
  GrpcServerOptions options = options_;
  options.address.port = port();
  const auto second = GrpcServer::start(options, *dispatcher_, *pool_, budget_, log_);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, HasSubstr("127.0.0.1:"));
}

class GrpcsServerTest : public GrpcServerTest {
 protected:
  void SetUp() override {
    VESTA_REQUIRE_OR_SKIP(certificates_.ok(), "needs the openssl command");
    ASSERT_TRUE(certificates_.issue("server") && certificates_.issue("client") &&
                certificates_.issue("renewed"));
    options_.tls.certificate = certificates_.certificate("server");
    options_.tls.key = certificates_.key("server");
    options_.tls.check_interval = milliseconds(1000);
  }
  Client tls_client(const std::string& identity = {}) {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = file_text(certificates_.ca());
    if (!identity.empty()) {
      options.pem_cert_chain = file_text(certificates_.certificate(identity));
      options.pem_private_key = file_text(certificates_.key(identity));
    }
    return {port(), grpc::SslCredentials(options)};
  }
  Certificates certificates_;
};

TEST_F(GrpcsServerTest, SpeaksTlsAndReloadsItsCertificate) {
  start();
  EXPECT_EQ(tls_client().call("/test.Service/Echo", "abc").body, "abc");
  EXPECT_EQ(Client(port()).call("/test.Service/Echo", "abc").status.error_code(),
            grpc::StatusCode::UNAVAILABLE);
  ASSERT_TRUE(certificates_.replace("server", "renewed"));
  EXPECT_TRUE(eventually([&] {
    const testing::ClientTls tls{certificates_.ca(), {}, {}};
    return testing::HttpClient(port(), tls).peer_certificate_name() == "renewed";
  }));
  EXPECT_EQ(tls_client().call("/test.Service/Echo", "abc").body, "abc");
}

TEST_F(GrpcsServerTest, AsksForClientCertificatesWhenToldTo) {
  options_.tls.client_ca = certificates_.ca();
  start();
  EXPECT_EQ(tls_client("client").call("/test.Service/Echo", "abc").body, "abc");
  EXPECT_EQ(tls_client().call("/test.Service/Echo", "abc").status.error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace vesta::server
