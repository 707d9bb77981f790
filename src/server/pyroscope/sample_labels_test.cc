// Labels that stay with samples, seen through every method of the API.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <querier/v1/querier.pb.h>
#include <types/v1/types.pb.h>

#include "server/pyroscope/test_server.h"

namespace vesta::server {
namespace {

using test::kCpuType;
using test::kStartMs;
using test::profile_of;
using test::TestServer;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class SampleLabelsTest : public ::testing::Test {
 protected:
  SampleLabelsTest() {
    server_.write(
        {profile_of("a", 0,
                    {{"main;work", 10, {{"thread_name", "worker-1"}, {"span_name", "GET"}}},
                     {"main;work", 20, {{"thread_name", "worker-2"}}},
                     {"main;idle", 40}}),
         profile_of("b", 0, {{"main", 80}})});
  }
  template <class Request>
  static Request request_of(std::string selector) {
    Request request;
    request.set_profile_typeid(std::string(kCpuType));
    request.set_label_selector(std::move(selector));
    request.set_start(kStartMs);
    request.set_end(kStartMs + 60'000);
    return request;
  }
  int64_t total(std::string selector) const {
    return server_
        .call<querier::v1::SelectMergeStacktracesResponse>(
            "SelectMergeStacktraces",
            request_of<querier::v1::SelectMergeStacktracesRequest>(std::move(selector)))
        .flamegraph()
        .total();
  }
  std::vector<std::string> series(const querier::v1::SelectSeriesRequest& request) const {
    std::vector<std::string> lines;
    const auto answer = server_.call<querier::v1::SelectSeriesResponse>("SelectSeries", request);
    for (const auto& one : answer.series()) {
      std::string line;
      for (const auto& label : one.labels()) line += label.name() + "=" + label.value() + " ";
      for (const auto& point : one.points()) line += fmt::format("{}", point.value());
      lines.push_back(line);
    }
    return lines;
  }

  TestServer server_;
};

TEST_F(SampleLabelsTest, AreListedAmongNamesAndValues) {
  const auto names = [&](std::vector<std::string> matchers) {
    types::v1::LabelNamesRequest request;
    for (auto& matcher : matchers) request.add_matchers(std::move(matcher));
    request.set_start(kStartMs);
    request.set_end(kStartMs + 60'000);
    const auto response = server_.call<types::v1::LabelNamesResponse>("LabelNames", request);
    return std::vector<std::string>(response.names().begin(), response.names().end());
  };
  EXPECT_THAT(names({}), Contains("thread_name"));
  EXPECT_THAT(names({}), Contains("service_name"));
  EXPECT_THAT(names({"{service_name=\"b\"}"}), Not(Contains("thread_name")));
  EXPECT_THAT(names({"{thread_name=\"worker-1\"}"}), Contains("span_name"));
  EXPECT_THAT(names({"{thread_name=\"worker-2\"}"}), Not(Contains("span_name")));
  const auto values = [&](std::string name, std::string matcher) {
    types::v1::LabelValuesRequest request;
    request.set_name(std::move(name));
    request.add_matchers(std::move(matcher));
    request.set_start(kStartMs);
    request.set_end(kStartMs + 60'000);
    const auto response = server_.call<types::v1::LabelValuesResponse>("LabelValues", request);
    return std::vector<std::string>(response.names().begin(), response.names().end());
  };
  EXPECT_THAT(values("thread_name", "{}"), ElementsAre("worker-1", "worker-2"));
  EXPECT_THAT(values("thread_name", "{span_name=\"GET\"}"), ElementsAre("worker-1"));
  EXPECT_THAT(values("thread_name", "{service_name=\"b\"}"), ElementsAre());
  EXPECT_THAT(values("service_name", "{thread_name=\"worker-1\"}"), ElementsAre("a"));
  EXPECT_THAT(values("service_name", "{thread_name=\"\"}"), ElementsAre("a", "b"));
  EXPECT_EQ(server_.get("/pyroscope/label-values", {{"label", "thread_name"}}).body,
            R"(["worker-1","worker-2"])");
}

TEST_F(SampleLabelsTest, AreSelectors) {
  EXPECT_EQ(total("{}"), 150);
  EXPECT_EQ(total("{thread_name=\"worker-1\"}"), 10);
  EXPECT_EQ(total("{thread_name=~\"worker-.*\", service_name=\"a\"}"), 30);
  EXPECT_EQ(total("{thread_name!=\"worker-1\"}"), 140);
  EXPECT_EQ(total("{thread_name=\"worker-1\", span_name=\"PUT\"}"), 0);
  EXPECT_THAT(series([&] {
                auto request =
                    request_of<querier::v1::SelectSeriesRequest>("{thread_name=\"worker-2\"}");
                request.set_step(60);
                return request;
              }()),
              ElementsAre("20"));
  const HttpResponse rendered = server_.get(
      "/pyroscope/render", {{"query", std::string(kCpuType) + "{thread_name=\"worker-1\"}"},
                            {"from", std::to_string(kStartMs)},
                            {"until", std::to_string(kStartMs + 60'000)},
                            {"groupBy", "thread_name"}});
  EXPECT_THAT(rendered.body, HasSubstr(R"("numTicks":10)"));
  EXPECT_THAT(rendered.body, HasSubstr(R"("groups":{"worker-1":{)"));
  auto heatmap = request_of<querier::v1::SelectHeatmapRequest>("{thread_name=\"worker-2\"}");
  heatmap.set_step(60);
  heatmap.set_query_type(querier::v1::HEATMAP_QUERY_TYPE_INDIVIDUAL);
  const auto map = server_.call<querier::v1::SelectHeatmapResponse>("SelectHeatmap", heatmap);
  ASSERT_EQ(map.series_size(), 1);
  EXPECT_EQ(map.series(0).slots(0).y_min(0), 20);
}

TEST_F(SampleLabelsTest, AreGroups) {
  auto request = request_of<querier::v1::SelectSeriesRequest>("{service_name=\"a\"}");
  request.set_step(60);
  request.add_group_by("thread_name");
  EXPECT_THAT(series(request),
              ElementsAre("40", "thread_name=worker-1 10", "thread_name=worker-2 20"));
  request.add_group_by("service_name");
  EXPECT_THAT(series(request),
              ElementsAre("service_name=a 40", "service_name=a thread_name=worker-1 10",
                          "service_name=a thread_name=worker-2 20"));
  request.mutable_stack_trace_selector()->add_call_site()->set_name("main");
  request.mutable_stack_trace_selector()->add_call_site()->set_name("work");
  EXPECT_THAT(series(request), ElementsAre("service_name=a thread_name=worker-1 10",
                                           "service_name=a thread_name=worker-2 20"));
}

TEST_F(SampleLabelsTest, AreInSeriesThatAskForThem) {
  querier::v1::SeriesRequest request;
  request.set_start(kStartMs);
  request.set_end(kStartMs + 60'000);
  request.add_label_names("service_name");
  request.add_label_names("thread_name");
  const auto listed = [&] {
    std::vector<std::string> lines;
    const auto answer = server_.call<querier::v1::SeriesResponse>("Series", request);
    for (const auto& set : answer.labels_set()) {
      std::string line;
      for (const auto& label : set.labels()) line += label.value() + " ";
      lines.push_back(line);
    }
    return lines;
  };
  EXPECT_THAT(listed(), ElementsAre("a ", "a worker-1 ", "a worker-2 ", "b "));
  request.add_matchers("{span_name=\"GET\"}");
  EXPECT_THAT(listed(), ElementsAre("a worker-1 "));
}

}  // namespace
}  // namespace vesta::server
