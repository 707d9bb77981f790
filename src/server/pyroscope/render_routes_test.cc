#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/flamebearer/reader.h"
#include "server/pyroscope/flamebearer_json.h"
#include "server/pyroscope/test_server.h"

namespace vesta::server {
namespace {

using test::kCpuType;
using test::kHeapType;
using test::kStartMs;
using test::profile_of;
using test::TestServer;
using ::testing::HasSubstr;
using ::testing::Not;

class RenderRoutesTest : public ::testing::Test {
 protected:
  RenderRoutesTest() {
    server_.write({profile_of("a", 0, {{"main;work", 10}, {"main;idle", 20}}),
                   profile_of("a", 30, {{"main;work", 5}}),
                   profile_of("b", 30, {{"main;work", 100}}),
                   profile_of("a", 0, {{"main", 7}}, kHeapType)});
  }
  static Fields query_of(const std::string& selector, const Fields& more = {}) {
    Fields fields = {{"query", std::string(kCpuType) + selector},
                     {"from", std::to_string(kStartMs)},
                     {"until", std::to_string(kStartMs + 60'000)}};
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
  }
  static int64_t total(const std::string& json, size_t type = 0) {
    const auto batch = read_flamebearer(json, {});
    EXPECT_TRUE(batch) << json;
    return batch ? total_of(batch->profiles.at(0), type) : -1;
  }

  TestServer server_;
};

TEST_F(RenderRoutesTest, RendersAFlameGraphWithATimeline) {
  for (const char* path : {"/pyroscope/render", "/render"}) {
    const HttpResponse response = server_.get(path, query_of("{service_name=\"a\"}"));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(
        response.body,
        fmt::format(R"({{"version":1,"flamebearer":{{"names":["total","main","idle","work"],)"
                    R"("levels":[[0,35,0,0],[0,35,0,1],[0,20,20,2,0,15,15,3]],)"
                    R"("numTicks":35,"maxSelf":20}},"metadata":{{"format":"single","spyName":"",)"
                    R"("sampleRate":1000000000,"units":"samples","name":"cpu"}},)"
                    R"("timeline":{{"startTime":{},"samples":[30,0,5,0],"durationDelta":15,)"
                    R"("watermarks":{{}}}},"groups":null,"heatmap":null}})",
                    kStartMs / 1000));
    EXPECT_EQ(total(response.body), 35);
  }
}

TEST_F(RenderRoutesTest, GroupsAndAverages) {
  const HttpResponse response = server_.get(
      "/pyroscope/render",
      query_of("{}", {{"groupBy", "service_name"}, {"groupBy", "pod"}, {"aggregation", "avg"}}));
  EXPECT_THAT(response.body, HasSubstr(R"("samples":[30,0,52,0])"));
  EXPECT_THAT(response.body, HasSubstr(R"("groups":{"a":{"startTime":)"));
  EXPECT_THAT(response.body, HasSubstr(R"("samples":[30,0,5,0])"));
  EXPECT_THAT(response.body, HasSubstr(R"("samples":[0,0,100,0])"));
}

TEST_F(RenderRoutesTest, CutsToABudget) {
  for (const char* name : {"max-nodes", "maxNodes"}) {
    const HttpResponse response = server_.get("/pyroscope/render", query_of("{}", {{name, "1"}}));
    EXPECT_THAT(response.body, HasSubstr(R"("names":["total","main","other"])"));
    EXPECT_EQ(total(response.body), 135);
  }
  // Pyroscope passes over what is not a number.
  EXPECT_EQ(total(server_.get("/render", query_of("{}", {{"maxNodes", "x"}})).body), 135);
  EXPECT_EQ(server_.get("/render", query_of("{}", {{"maxNodes", "9999999"}})).status, 400);
}

TEST_F(RenderRoutesTest, RendersDot) {
  const HttpResponse response =
      server_.get("/pyroscope/render", query_of("{}", {{"format", "dot"}}));
  EXPECT_THAT(response.content_type, HasSubstr("graphviz"));
  EXPECT_THAT(response.body, HasSubstr("main"));
  EXPECT_THAT(response.body, HasSubstr("idle"));
  EXPECT_THAT(
      server_.get("/pyroscope/render", query_of("{}", {{"format", "dot"}, {"max-nodes", "2"}}))
          .body,
      Not(HasSubstr("idle")));
}

TEST_F(RenderRoutesTest, NothingIsAnEmptyGraph) {
  const HttpResponse response =
      server_.get("/pyroscope/render", query_of("{service_name=\"none\"}"));
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body, HasSubstr(R"("levels":[[0,0,0,0]])"));
}

TEST_F(RenderRoutesTest, SaysWhatIsWrong) {
  EXPECT_EQ(server_.get("/pyroscope/render", {}).status, 400);
  EXPECT_EQ(server_.get("/pyroscope/render", query_of("{")).status, 400);
  EXPECT_EQ(server_.get("/pyroscope/render", query_of("{}", {{"aggregation", "max"}})).status, 200)
      << "as Pyroscope, which takes it for a sum";
  EXPECT_EQ(server_.get("/pyroscope/render", {{"query", std::string(kCpuType)}, {"from", "when?"}})
                .status,
            400);
  EXPECT_THAT(server_.get("/pyroscope/render", {}).body, HasSubstr(R"("code":"invalid_argument")"));
}

TEST_F(RenderRoutesTest, ATypeMustBeThereAndKnown) {
  const auto status = [&](std::string query, std::string from = "now-15m",
                          std::string until = "now") {
    return server_
        .get("/pyroscope/render",
             {{"query", std::move(query)}, {"from", std::move(from)}, {"until", std::move(until)}})
        .status;
  };
  const std::string cpu = std::string(kCpuType) + "{}";
  EXPECT_EQ(status(cpu), 200);
  EXPECT_EQ(status("{service_name=\"a\"}"), 400);
  EXPECT_EQ(status("{service_name=\"none\"}"), 400);
  EXPECT_EQ(status("bad_query"), 400);
  EXPECT_EQ(status("invalid_format{service_name=\"a\"}"), 400);
  EXPECT_EQ(status("invalid_format{service_name=\"none\"}"), 400);
  EXPECT_EQ(status(cpu, "0"), 400);
  EXPECT_EQ(status(cpu, "now-15m", "0"), 400);
  EXPECT_EQ(status(cpu, "0", "0"), 400);
}

Fields diff_of(std::string left, std::string right) {
  const std::string from = std::to_string(kStartMs);
  const std::string until = std::to_string(kStartMs + 60'000);
  return {{"leftQuery", std::move(left)},   {"leftFrom", from},  {"leftUntil", until},
          {"rightQuery", std::move(right)}, {"rightFrom", from}, {"rightUntil", until}};
}

TEST_F(RenderRoutesTest, RendersADifference) {
  const std::string cpu(kCpuType);
  const HttpResponse response =
      server_.get("/pyroscope/render-diff",
                  diff_of(cpu + "{service_name=\"a\"}", cpu + "{service_name=\"b\"}"));
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body, HasSubstr(R"("format":"double")"));
  EXPECT_THAT(response.body, HasSubstr(R"("leftTicks":35,"rightTicks":100)"));
  EXPECT_THAT(response.body, HasSubstr(R"("numTicks":135)"));
  EXPECT_THAT(response.body, HasSubstr(R"([0,20,20,0,0,0,2,0,15,15,0,100,100,3])"));
  EXPECT_EQ(total(response.body, 0), 35);
  EXPECT_EQ(total(response.body, 1), 100);
  EXPECT_EQ(server_.get("/render-diff", diff_of(cpu + "{}", std::string(kHeapType) + "{}")).status,
            400);
  EXPECT_EQ(server_.get("/render-diff", diff_of(cpu + "{}", "")).status, 400);
}

TEST_F(RenderRoutesTest, ListsValuesOfLabels) {
  EXPECT_EQ(server_.get("/pyroscope/label-values", {{"label", "__name__"}}).body,
            fmt::format(R"(["{}","{}"])", kHeapType, kCpuType));
  EXPECT_EQ(server_.get("/label-values", {{"label", "service_name"}}).body, R"(["a","b"])");
  EXPECT_EQ(server_.get("/label-values", {}).status, 400);
}

TEST(TimelineStepTest, IsRoundAndNear) {
  EXPECT_EQ(timeline_step_s(0), 15);
  EXPECT_EQ(timeline_step_s(3600), 15);
  EXPECT_EQ(timeline_step_s(24 * 3600), 60);
  EXPECT_EQ(timeline_step_s(7 * 24 * 3600), 300);
  EXPECT_EQ(timeline_step_s(INT64_MAX / 1'000'000'000), 2592000);
}

}  // namespace
}  // namespace vesta::server
