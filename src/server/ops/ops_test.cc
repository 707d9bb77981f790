#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process_metrics.h"
#include "server/ops/request_metrics.h"
#include "server/ops/routes.h"
#include "server/rpc/router.h"

namespace vesta::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class OpsTest : public ::testing::Test {
 protected:
  HttpResponse get(const std::string& path, Fields query = {}) {
    Routes routes;
    routes.add(HttpRoute{"GET", "/api/<v>", Scope::kRead, {}});
    add_ops_routes(routes, parts_);
    for (const HttpRoute& route : routes.http()) {
      if (route.path != path || route.method != "GET") continue;
      HttpRequest request;
      request.query = std::move(query);
      return route.handler(request, {});
    }
    return error_response({ErrorCode::kNotFound, "", ""});
  }
  OpsParts parts_{.is_ready = [] { return true; },
                  .needs_restart = [] { return std::string(); },
                  .metrics_text = [] { return "m 1\n"; },
                  .metrics_scope = Scope::kAdmin,
                  .cpu_profile = {},
                  .command_line = std::string("vesta\0server\0", 13)};
};

TEST_F(OpsTest, SaysWhetherItIsReady) {
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_EQ(get("/ready").status, 200);
  parts_.is_ready = [] { return false; };
  EXPECT_EQ(get("/ready").status, 503);
  EXPECT_EQ(get("/metrics").body, "m 1\n");
}

TEST_F(OpsTest, IsUnhealthyWhenOnlyANewStartHelps) {
  parts_.needs_restart = [] { return std::string("the store hangs"); };
  const HttpResponse answer = get("/healthz");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "the store hangs; restart the server\n");
}

TEST_F(OpsTest, ProfilesItselfWhenItCan) {
  EXPECT_EQ(get("/debug/pprof/profile").status, 501);
  parts_.cpu_profile = [](std::chrono::seconds time) -> Result<std::string> {
    return std::to_string(time.count());
  };
  EXPECT_EQ(get("/debug/pprof/profile").body, "30");
  EXPECT_EQ(get("/debug/pprof/profile", {{"seconds", "5"}}).body, "5");
  for (const char* bad : {"0", "-1", "301", "x", "5s", ""}) {
    EXPECT_EQ(get("/debug/pprof/profile", {{"seconds", bad}}).status, 400) << bad;
  }
  parts_.cpu_profile = [](std::chrono::seconds) -> Result<std::string> {
    return Error{ErrorCode::kPermission, "may not", "run as root"};
  };
  const HttpResponse refused = get("/debug/pprof/profile");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.body, "may not; run as root\n");
  EXPECT_EQ(get("/debug/pprof/goroutine").status, 404);
  EXPECT_EQ(get("/debug/pprof/cmdline").body.size(), 13U);
}

TEST(RequestMetrics, AddsUpByRoute) {
  RequestMetrics metrics;
  RequestRecord record;
  record.transport = "http";
  record.route = "/a";
  record.status = 200;
  record.bytes_in = 10;
  record.duration = std::chrono::milliseconds(3);
  metrics.observe(record);
  record.duration = std::chrono::seconds(20);
  metrics.observe(record);
  record.route = {};
  record.status = 404;
  record.rejected = "not_found";
  metrics.observe(record);
  PrometheusText text;
  metrics.write(text);
  const std::string out = text.take();
  EXPECT_THAT(out,
              HasSubstr(R"(vesta_requests_total{transport="http",route="/a",status="200"} 2)"));
  EXPECT_THAT(
      out, HasSubstr(R"(vesta_request_seconds_bucket{transport="http",route="/a",le="0.0025"} 0)"));
  EXPECT_THAT(
      out, HasSubstr(R"(vesta_request_seconds_bucket{transport="http",route="/a",le="0.005"} 1)"));
  EXPECT_THAT(
      out, HasSubstr(R"(vesta_request_seconds_bucket{transport="http",route="/a",le="+Inf"} 2)"));
  EXPECT_THAT(out, HasSubstr(R"(vesta_request_seconds_sum{transport="http",route="/a"} 20.003)"));
  EXPECT_THAT(out, HasSubstr(R"(vesta_request_bytes_total{transport="http",route="/a"} 20)"));
  EXPECT_THAT(out, HasSubstr(R"(route="none",status="404"} 1)"));
  EXPECT_THAT(out, HasSubstr(R"(vesta_requests_rejected_total{reason="not_found"} 1)"));
}

TEST(PrometheusText, EscapesLabels) {
  PrometheusText text;
  text.metric("m", "gauge", "Help.");
  text.sample({{"a", "x\"y\\z\n"}}, 1.5);
  EXPECT_EQ(text.take(), "# HELP m Help.\n# TYPE m gauge\nm{a=\"x\\\"y\\\\z\\n\"} 1.5\n");
}

TEST(ProcessMetrics, ShowWhatTheProcessUses) {
  PrometheusText text;
  write_process_metrics(text);
  const std::string out = text.take();
  EXPECT_THAT(out, HasSubstr("process_resident_memory_bytes"));
  EXPECT_THAT(out, Not(HasSubstr("process_resident_memory_bytes 0\n")));
  EXPECT_THAT(out, HasSubstr("process_open_fds"));
}

}  // namespace
}  // namespace vesta::server
