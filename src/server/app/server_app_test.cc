#include "server/app/server_app.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "base/clock.h"
#include "server/access/token_store.h"
#include "server/testing/http_client.h"
#include "store/memory/memory_engine.h"
#include "store/testing/stored_profiles.h"
#include "testing/temporary_folder.h"

namespace vesta::server {
namespace {

using std::chrono::milliseconds;
using testing::eventually;
using ::testing::HasSubstr;
using testing::HttpClient;
using ::testing::Not;
using testing::Reply;

class ServerAppTest : public ::testing::Test {
 protected:
  ServerAppTest() {
    config_.http = "127.0.0.1:0";
    config_.grpc = "127.0.0.1:0";
    config_.otlp_http = "127.0.0.1:0";
    config_.data = folder_.path("data");
    parts_.open_engine = [](const ServerConfig&) -> Result<std::unique_ptr<Engine>> {
      return std::unique_ptr<Engine>(make_memory_engine());
    };
    parts_.version = "9.9";
  }
  Status try_start() {
    app_ = std::make_unique<ServerApp>(config_, parts_, log_);
    return app_->start();
  }
  void start() {
    const Status status = try_start();
    ASSERT_TRUE(status.ok()) << status.error().message;
  }
  HttpClient connect() { return HttpClient(app_->http_address()->port); }
  Reply get(const std::string& target, const std::string& headers = {}) {
    return connect().get(target, headers).value_or(Reply());
  }
  Reply push(const std::string& name, const std::string& headers = {}) {
    return connect()
        .request("POST",
                 "/ingest?name=" + name + "&from=" + std::to_string(now_s() - 10) +
                     "&until=" + std::to_string(now_s()) + "&sampleRate=100",
                 headers, "main;work 5\n")
        .value_or(Reply());
  }
  static int64_t now_s() { return unix_now().ns / kSecond; }
  std::string create_token(const std::string& tenant, Scope scope) const {
    std::filesystem::create_directories(config_.data);
    return "Authorization: Bearer " +
           (*TokenStore::open(TokenStore::path_in(config_.data)))
               ->create("", tenant, scope, 0)
               ->text +
           "\r\n";
  }
  std::string render(const std::string& headers = {}) {
    return get("/pyroscope/render?query=process_cpu:cpu:nanoseconds:cpu:nanoseconds{}&from=now-1h",
               headers)
        .body;
  }

  TemporaryFolder folder_;
  ServerConfig config_;
  ServerParts parts_;
  Log log_{nullptr, LogFormat::kText, LogLevel::kInfo};
  std::unique_ptr<ServerApp> app_;
};

TEST_F(ServerAppTest, TakesProfilesAndAnswersQueries) {
  start();
  EXPECT_EQ(get("/ready").status, 200);
  EXPECT_EQ(push("checkout").status, 200);
  EXPECT_THAT(render(), HasSubstr("work"));
  EXPECT_THAT(get("/").body, HasSubstr("<title>Vesta</title>"));
  const std::string metrics = get("/metrics").body;
  EXPECT_THAT(
      metrics,
      HasSubstr(R"(vesta_requests_total{transport="http",route="/ingest",status="200"} 1)"));
  EXPECT_THAT(metrics, HasSubstr(R"(vesta_build_info{version="9.9"} 1)"));
  EXPECT_THAT(metrics, HasSubstr("vesta_store_series 1\n"));
  struct stat info {};
  ASSERT_EQ(::stat(config_.data.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
}

TEST_F(ServerAppTest, ThePortOfOtlpReadsNothing) {
  start();
  HttpClient client(app_->otlp_http_address()->port);
  EXPECT_EQ(client.get("/metrics")->status, 404);
  EXPECT_EQ(client.get("/healthz")->status, 200);
  EXPECT_NE(client
                .request("POST", "/v1development/profiles",
                         "Content-Type: application/x-protobuf\r\n", "")
                ->status,
            404);
}

TEST_F(ServerAppTest, RetentionHoldsForTenantsThatNobodyUsesAnyMore) {
  Engine* engine = nullptr;
  parts_.open_engine = [&](const ServerConfig&) -> Result<std::unique_ptr<Engine>> {
    auto memory = make_memory_engine();
    engine = memory.get();
    const auto batch = test::batch_of({{.labels = {{"service_name", "old"}},
                                        .time_ns = unix_now().ns - 2 * test::kHourNs,
                                        .samples = {{"work", 5}}}});
    VESTA_TRY(memory->write("gone", batch, {}));
    return Result<std::unique_ptr<Engine>>(std::move(memory));
  };
  config_.retention.rules = {{"", test::kHourNs}};
  start();
  EXPECT_EQ(engine->tenant_stats("gone").oldest_ns, 0);
}

TEST_F(ServerAppTest, AnswersToItsOwnNamesWhereItAsksForNoToken) {
  config_.hosts = {"profiles.example"};
  const auto status = [this](const std::string& path, const std::string& host) {
    HttpClient client = connect();
    client.send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return client.read_reply().value_or(Reply()).status;
  };
  start();
  EXPECT_EQ(status("/api/v1/types", "localhost:4040"), 200);
  EXPECT_EQ(status("/api/v1/types", "127.0.0.1"), 200);
  EXPECT_EQ(status("/api/v1/types", "profiles.example"), 200);
  EXPECT_EQ(status("/api/v1/types", "evil.example:4040"), 403);
  EXPECT_EQ(status("/metrics", "evil.example:4040"), 403);
  EXPECT_EQ(status("/metrics", "localhost:4040"), 200);
  EXPECT_EQ(status("/", "evil.example:4040"), 403);
  EXPECT_EQ(status("/healthz", "evil.example:4040"), 200);
  // Tokens are better than names.
  app_.reset();
  config_.tokens = TokenPolicy::kRequired;
  const std::string token = create_token("a", Scope::kRead);
  start();
  EXPECT_EQ(status("/api/v1/types", "evil.example"), 401);
  EXPECT_EQ(status("/api/v1/types", "vesta.example\r\n" + token.substr(0, token.size() - 2)), 200);
}

TEST_F(ServerAppTest, RefusesToListenWideWithoutTokens) {
  config_.http = "0.0.0.0:0";
  const Status refused = try_start();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUsage);
  EXPECT_THAT(refused.error().hint, HasSubstr("vesta token create"));
  EXPECT_THAT(refused.error().hint, HasSubstr("--insecure-no-auth"));
  config_.tokens = TokenPolicy::kOff;
  start();
  EXPECT_FALSE(app_->tokens_required());
  app_.reset();
  config_.tokens = TokenPolicy::kAuto;
  const std::string token = create_token("a", Scope::kWrite);
  start();
  EXPECT_TRUE(app_->tokens_required());
  EXPECT_EQ(push("x").status, 401);
  EXPECT_EQ(push("x", token).status, 200);
}

TEST_F(ServerAppTest, TokensDecideByScopeAndTenant) {
  config_.tokens = TokenPolicy::kRequired;
  const std::string write_a = create_token("a", Scope::kWrite);
  const std::string read_a = create_token("a", Scope::kRead);
  const std::string read_b = create_token("b", Scope::kRead);
  const std::string admin_b = create_token("b", Scope::kAdmin);
  start();
  EXPECT_EQ(push("checkout", read_a).status, 403);
  EXPECT_EQ(push("checkout", write_a).status, 200);
  EXPECT_THAT(render(read_a), HasSubstr("work"));
  EXPECT_THAT(render(read_b), Not(HasSubstr("work")));
  EXPECT_THAT(render(admin_b), Not(HasSubstr("work")));
  EXPECT_THAT(get("/api/v1/config", read_a).body, HasSubstr(R"("tenant":"a","scopes":["read"])"));
  EXPECT_EQ(get("/metrics", read_a).status, 403);
  EXPECT_EQ(get("/metrics", admin_b).status, 200);
  EXPECT_EQ(get("/healthz").status, 200);
  // A token that comes or goes while the server runs.
  const std::string later = create_token("a", Scope::kRead);
  EXPECT_TRUE(eventually([&] { return render(later).find("work") != std::string::npos; }));
}

TEST_F(ServerAppTest, WhoMayReadMayOpenFiles) {
  config_.tokens = TokenPolicy::kRequired;
  const std::string read_a = create_token("a", Scope::kRead);
  const std::string read_b = create_token("b", Scope::kRead);
  start();
  const auto open = [&](const std::string& headers) {
    return connect()
        .request("POST", "/api/v1/files?name=a.folded", headers, "main;work 5\n")
        .value_or(Reply());
  };
  EXPECT_EQ(open("").status, 401);
  EXPECT_EQ(open(read_a + "Sec-Fetch-Site: cross-site\r\n").status, 403);
  const Reply opened = open(read_a);
  EXPECT_EQ(opened.status, 200) << opened.body;
  EXPECT_THAT(get("/api/v1/files", read_a).body, HasSubstr("a.folded"));
  EXPECT_THAT(get("/api/v1/files", read_b).body, Not(HasSubstr("a.folded")));
  const std::string id = opened.body.substr(std::string(R"({"id":")").size(), 32);
  EXPECT_THAT(get("/api/v1/top?file=" + id, read_a).body, HasSubstr("work"));
  EXPECT_EQ(get("/api/v1/top?file=" + id, read_b).status, 404);
  // Nothing was stored.
  EXPECT_EQ(get("/api/v1/series", read_a).body, R"({"series":[],"cut":{"series":0}})");
}

TEST_F(ServerAppTest, TenantsByHeaderSeeTheirOwn) {
  config_.multi_tenant = true;
  start();
  EXPECT_EQ(push("checkout").status, 401);
  EXPECT_EQ(push("checkout", "X-Scope-OrgID: a\r\n").status, 200);
  EXPECT_EQ(push("checkout", "X-Scope-OrgID: ..\r\n").status, 400);
  EXPECT_THAT(render("X-Scope-OrgID: a\r\n"), HasSubstr("work"));
  EXPECT_THAT(render("X-Scope-OrgID: b\r\n"), Not(HasSubstr("work")));
}

TEST_F(ServerAppTest, NotesReadsInTheAuditLog) {
  start();
  (void)render();
  (void)push("checkout");
  app_->stop(milliseconds(1000));
  std::ostringstream text;
  text << std::ifstream(config_.data + "/audit.log").rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("/pyroscope/render?query="));
  EXPECT_THAT(text.str(), Not(HasSubstr("/ingest")));
}

TEST_F(ServerAppTest, LimitsOfTheTransportAreThoseOfTheConfiguration) {
  config_.limits.max_body_bytes = 100;
  start();
  EXPECT_EQ(connect().request("POST", "/ingest?name=a", "", std::string(200, 'x'))->status, 413);
}

TEST_F(ServerAppTest, SaysWhyItDoesNotStart) {
  parts_.open_engine = [](const ServerConfig&) -> Result<std::unique_ptr<Engine>> {
    return Error{ErrorCode::kUnavailable, "another server has it open", {}};
  };
  EXPECT_EQ(try_start().error().message, "another server has it open");
  config_.data = "/proc/nowhere";
  EXPECT_EQ(try_start().error().code, ErrorCode::kIo);
}

TEST_F(ServerAppTest, StopsTwiceWithoutHarm) {
  start();
  app_->stop(milliseconds(100));
  app_->stop(milliseconds(100));
}

}  // namespace
}  // namespace vesta::server
