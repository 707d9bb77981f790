#include <fmt/format.h>
#include <gtest/gtest.h>
#include <querier/v1/querier.pb.h>
#include <types/v1/types.pb.h>

#include <bit>
#include <limits>

#include "formats/protobuf/wire.h"
#include "server/pyroscope/test_server.h"

namespace vesta::server {
namespace {

using querier::v1::SelectHeatmapRequest;
using querier::v1::SelectHeatmapResponse;
using querier::v1::SelectSeriesRequest;
using querier::v1::SelectSeriesResponse;
using test::kCpuType;
using test::kHeapType;
using test::kStartMs;
using test::profile_of;
using test::SampleSpec;
using test::TestServer;

template <class Request = SelectSeriesRequest>
Request request_of(double step, std::string_view type = kCpuType, std::string selector = "{}") {
  Request request;
  request.set_profile_typeid(std::string(type));
  request.set_label_selector(std::move(selector));
  request.set_start(kStartMs);
  request.set_end(kStartMs + 60'000);
  request.set_step(step);
  return request;
}

// "20:3 40:5": seconds from the start, and values.
std::string text_of(const types::v1::Series& series) {
  std::string text;
  for (const auto& point : series.points()) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}:{}", static_cast<double>(point.timestamp() - kStartMs) / 1000,
                        point.value());
  }
  return text;
}

class SeriesMethodsTest : public ::testing::Test {
 protected:
  SelectSeriesResponse series(const SelectSeriesRequest& request) const {
    return server_.call<SelectSeriesResponse>("SelectSeries", request);
  }
  std::string only(const SelectSeriesRequest& request) const {
    const auto response = series(request);
    EXPECT_EQ(response.series_size(), 1);
    return response.series_size() == 1 ? text_of(response.series(0)) : "";
  }
  SelectHeatmapResponse heatmap(const SelectHeatmapRequest& request) const {
    return server_.call<SelectHeatmapResponse>("SelectHeatmap", request);
  }

  TestServer server_;
};

TEST_F(SeriesMethodsTest, APointCoversTheStepThatEndsWithIt) {
  server_.write({profile_of("a", -20, {{"f", 1000}}), profile_of("a", -19, {{"f", 1}}),
                 profile_of("a", 0, {{"f", 2}}), profile_of("a", 1, {{"f", 4}}),
                 profile_of("a", 20, {{"f", 8}}), profile_of("a", 21, {{"f", 16}}),
                 profile_of("a", 60, {{"f", 32}}), profile_of("a", 61, {{"f", 1000}})});
  // The first one is full, though it begins before the start; the one at 40 is full, too.
  EXPECT_EQ(only(request_of(20)), "0:3 20:12 40:16 60:32");
}

TEST_F(SeriesMethodsTest, AProfileIsSpreadOverTheStepsThatItCovers) {
  auto minute = profile_of("a", 0, {{"f", 6000}});
  minute.time_ns += 1'000'000;  // where the step that ends at 20 begins
  minute.duration_ns = 60 * vesta::test::kSecondNs;
  server_.write({minute});
  EXPECT_EQ(only(request_of(20)), "20:2000 40:2000 60:2000");
  auto average = request_of(20);
  average.set_aggregation(types::v1::TIME_SERIES_AGGREGATION_TYPE_AVERAGE);
  EXPECT_EQ(only(average), "20:6000") << "of whole profiles";
}

TEST_F(SeriesMethodsTest, AMillisecondBelongsToOnePoint) {
  auto late = profile_of("a", 20, {{"f", 1}});
  late.time_ns += 999'999;  // still in the millisecond of the point
  auto next = profile_of("a", 20, {{"f", 2}});
  next.time_ns += 1'000'000;
  server_.write({late, next});
  EXPECT_EQ(only(request_of(20)), "20:1 40:2");
}

TEST_F(SeriesMethodsTest, EmptyStepsAreAbsent) {
  server_.write({profile_of("a", 10, {{"f", 1}}), profile_of("a", 50, {{"f", 2}})});
  EXPECT_EQ(only(request_of(15)), "15:1 60:2");
  EXPECT_EQ(series(request_of(15, kHeapType)).series_size(), 0);
}

TEST_F(SeriesMethodsTest, SumsDoNotDependOnTheStep) {
  for (int second = 1; second <= 60; ++second) {
    server_.write({profile_of("a", second, {{"f", second}})});
  }
  for (const double step : {1.0, 2.5, 5.0, 15.0, 60.0}) {
    double sum = 0;
    const auto response = series(request_of(step));
    for (const auto& point : response.series(0).points()) sum += point.value();
    EXPECT_EQ(sum, 60 * 61 / 2) << step;
  }
}

TEST_F(SeriesMethodsTest, GaugesAreAveragedOverTimeAndSummedOverSeries) {
  server_.write({profile_of("a", 1, {{"f", 100}}, kHeapType),
                 profile_of("a", 2, {{"f", 300}}, kHeapType),
                 profile_of("b", 2, {{"f", 50}}, kHeapType)});
  EXPECT_EQ(only(request_of(20, kHeapType)), "20:250");
  auto by_service = request_of(20, kHeapType);
  by_service.add_group_by("service_name");
  const auto response = series(by_service);
  ASSERT_EQ(response.series_size(), 2);
  EXPECT_EQ(text_of(response.series(0)), "20:200");
  EXPECT_EQ(text_of(response.series(1)), "20:50");
}

TEST_F(SeriesMethodsTest, HonoursTheAggregation) {
  server_.write({profile_of("a", 1, {{"f", 1}}), profile_of("a", 2, {{"f", 2}}),
                 profile_of("b", 3, {{"f", 6}})});
  auto request = request_of(20);
  request.set_aggregation(types::v1::TIME_SERIES_AGGREGATION_TYPE_SUM);
  EXPECT_EQ(only(request), "20:9");
  request.set_aggregation(types::v1::TIME_SERIES_AGGREGATION_TYPE_AVERAGE);
  EXPECT_EQ(only(request), "20:3");
}

TEST_F(SeriesMethodsTest, GroupsByLabelsAndKeepsTheLargest) {
  auto labelled = profile_of("b", 3, {{"f", 60}});
  labelled.labels["pod"] = "p";
  server_.write({profile_of("a", 1, {{"f", 1}}), labelled, profile_of("c", 3, {{"f", 30}})});
  auto request = request_of(20);
  request.add_group_by("pod");
  request.add_group_by("service_name");
  auto response = series(request);
  ASSERT_EQ(response.series_size(), 3);
  EXPECT_EQ(response.series(0).labels_size(), 2);  // the pod of b
  EXPECT_EQ(response.series(1).labels_size(), 1);  // a and c have none
  EXPECT_EQ(response.series(1).labels(0).value(), "a");
  request.set_limit(2);
  response = series(request);
  ASSERT_EQ(response.series_size(), 2);
  EXPECT_EQ(text_of(response.series(0)), "20:60");
  EXPECT_EQ(text_of(response.series(1)), "20:30");
}

TEST_F(SeriesMethodsTest, CountsOnlyStacksBelowACallSite) {
  server_.write({profile_of("a", 1, {{"main;f", 1}, {"main;g", 2}}),
                 profile_of("a", 21, {{"main;f;g", 4}, {"f", 8}})});
  auto request = request_of(20);
  request.mutable_stack_trace_selector()->add_call_site()->set_name("main");
  request.mutable_stack_trace_selector()->add_call_site()->set_name("f");
  EXPECT_EQ(only(request), "20:1 40:4");
  request.set_step(0.001);
  EXPECT_EQ(server_.status("SelectSeries", request), 400);
}

TEST_F(SeriesMethodsTest, ExemplarsAreTheLargestProfiles) {
  SampleSpec sample{"f", 7};
  sample.link.span_id[7] = 0xAB;
  sample.link.trace_id[15] = 0xCD;
  auto largest = profile_of("a", 2, {sample, {"g", 2}});
  largest.labels["pod"] = "p";
  server_.write({profile_of("a", 1, {{"f", 1}}), largest});
  auto request = request_of(20);
  request.add_group_by("service_name");
  EXPECT_EQ(series(request).series(0).points(0).exemplars_size(), 0);
  request.set_exemplar_type(types::v1::EXEMPLAR_TYPE_INDIVIDUAL);
  auto point = series(request).series(0).points(0);
  ASSERT_EQ(point.exemplars_size(), 1);
  EXPECT_EQ(point.value(), 10);
  EXPECT_EQ(point.exemplars(0).value(), 9);
  EXPECT_EQ(point.exemplars(0).timestamp(), kStartMs + 2000);
  EXPECT_EQ(point.exemplars(0).profile_id().size(), 36U);
  EXPECT_EQ(point.exemplars(0).span_id(), "");
  bool has_pod = false;
  for (const auto& label : point.exemplars(0).labels()) {
    has_pod |= label.name() == "pod" && label.value() == "p";
    EXPECT_NE(label.name(), "service_name");
  }
  EXPECT_TRUE(has_pod);
  request.set_exemplar_type(types::v1::EXEMPLAR_TYPE_SPAN);
  point = series(request).series(0).points(0);
  ASSERT_EQ(point.exemplars_size(), 1);
  EXPECT_EQ(point.exemplars(0).span_id(), "00000000000000ab");
  EXPECT_EQ(point.exemplars(0).trace_id(), "000000000000000000000000000000cd");
  EXPECT_EQ(point.exemplars(0).value(), 7);
}

TEST_F(SeriesMethodsTest, RefusesStepsAndRangesThatAreNone) {
  for (const double step : {0.0, -1.0, 0.0009, 1e300, std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(server_.status("SelectSeries", request_of(step)), 400) << step;
    EXPECT_EQ(server_.status("SelectHeatmap", request_of<SelectHeatmapRequest>(step)), 400);
  }
  auto many = request_of(0.001);
  many.set_end(kStartMs + 1'000'000);
  EXPECT_EQ(server_.status("SelectSeries", many), 400);
  auto request = request_of(1e9);
  EXPECT_EQ(server_.status("SelectSeries", request), 200);
  request.set_start(std::numeric_limits<int64_t>::min());
  EXPECT_EQ(server_.status("SelectSeries", request), 400);
  request.set_start(kStartMs);
  request.set_end(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(server_.status("SelectSeries", request), 400);
  request.set_end(0);
  EXPECT_EQ(server_.status("SelectSeries", request), 400);
}

TEST_F(SeriesMethodsTest, HasTheOfficialFieldNumbers) {
  server_.write({profile_of("a", 1, {{"f", 3}})});
  WireWriter request;
  request.bytes(1, kCpuType);
  request.bytes(2, "{}");
  request.int64(3, kStartMs);
  request.int64(4, kStartMs + 60'000);
  request.bytes(5, "service_name");
  request.fixed64(6, std::bit_cast<uint64_t>(15.0));
  const HttpResponse response =
      server_.querier("SelectSeries", "application/proto", request.take());
  WireReader answer(response.body);
  ASSERT_TRUE(answer.next());
  ASSERT_TRUE(answer.is(1, WireType::kBytes));
  WireReader series = answer.message();
  ASSERT_TRUE(series.next());
  ASSERT_TRUE(series.is(1, WireType::kBytes));
  WireReader label = series.message();
  ASSERT_TRUE(label.next() && label.is(1, WireType::kBytes));
  EXPECT_EQ(label.bytes(), "service_name");
  ASSERT_TRUE(label.next() && label.is(2, WireType::kBytes));
  EXPECT_EQ(label.bytes(), "a");
  ASSERT_TRUE(series.next());
  ASSERT_TRUE(series.is(2, WireType::kBytes));
  WireReader point = series.message();
  ASSERT_TRUE(point.next() && point.is(1, WireType::kFixed64));
  EXPECT_EQ(std::bit_cast<double>(point.fixed64()), 3.0);
  ASSERT_TRUE(point.next() && point.is(2, WireType::kVarint));
  EXPECT_EQ(point.int64(), kStartMs + 15'000);
}

TEST_F(SeriesMethodsTest, JsonHasNumbersForValuesAndStringsForTimes) {
  server_.write({profile_of("a", 1, {{"f", 3}})});
  EXPECT_EQ(
      server_.json("SelectSeries",
                   fmt::format(R"({{"profileTypeID":"{}","labelSelector":"{{}}","start":"{}",)"
                               R"("end":"{}","step":15,"groupBy":["service_name"],)"
                               R"("aggregation":"TIME_SERIES_AGGREGATION_TYPE_SUM"}})",
                               kCpuType, kStartMs, kStartMs + 60'000)),
      fmt::format(R"({{"series":[{{"labels":[{{"name":"service_name","value":"a"}}],)"
                  R"("points":[{{"value":3,"timestamp":"{}"}}]}}]}})",
                  kStartMs + 15'000));
}

TEST_F(SeriesMethodsTest, HeatmapsSpreadProfilesOverTimeAndValue) {
  server_.write({profile_of("a", 1, {{"f", 0}, {"g", 100}}), profile_of("a", 2, {{"f", 110}}),
                 profile_of("a", 30, {{"f", 300}}), profile_of("b", 30, {{"f", 299}})});
  auto request = request_of<SelectHeatmapRequest>(20);
  request.set_query_type(querier::v1::HEATMAP_QUERY_TYPE_INDIVIDUAL);
  request.set_exemplar_type(types::v1::EXEMPLAR_TYPE_INDIVIDUAL);
  request.add_group_by("service_name");
  auto response = heatmap(request);
  ASSERT_EQ(response.series_size(), 2);
  ASSERT_EQ(response.series(0).slots_size(), 2);
  const auto& slot = response.series(0).slots(0);
  EXPECT_EQ(slot.timestamp(), kStartMs + 20'000);
  ASSERT_EQ(slot.y_min_size(), 20);
  ASSERT_EQ(slot.counts_size(), 20);
  EXPECT_EQ(slot.y_min(0), 100);
  EXPECT_EQ(slot.y_min(1), 110);
  EXPECT_EQ(slot.counts(0), 1);
  EXPECT_EQ(slot.counts(1), 1);
  EXPECT_EQ(slot.exemplars_size(), 2);
  EXPECT_EQ(response.series(0).slots(1).counts(19), 1);
  EXPECT_EQ(response.series(1).slots(0).counts(19), 1);
  request.set_limit(1);
  response = heatmap(request);
  ASSERT_EQ(response.series_size(), 1);
  EXPECT_EQ(response.series(0).labels(0).value(), "a");
}

TEST_F(SeriesMethodsTest, HeatmapsOfSpansAndOfNothing) {
  SampleSpec sample{"f", 7};
  sample.link.span_id[0] = 1;
  server_.write({profile_of("a", 1, {sample, {"g", 5}})});
  auto request = request_of<SelectHeatmapRequest>(20);
  request.set_query_type(querier::v1::HEATMAP_QUERY_TYPE_SPAN);
  request.set_exemplar_type(types::v1::EXEMPLAR_TYPE_SPAN);
  const auto response = heatmap(request);
  ASSERT_EQ(response.series_size(), 1);
  EXPECT_EQ(response.series(0).slots(0).exemplars(0).span_id(), "0100000000000000");
  EXPECT_EQ(heatmap(request_of<SelectHeatmapRequest>(20, kHeapType)).series_size(), 0);
}

}  // namespace
}  // namespace vesta::server
