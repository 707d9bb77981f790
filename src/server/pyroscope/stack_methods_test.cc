#include <fmt/format.h>
#include <gmock/gmock.h>
#include <google/v1/profile.pb.h>
#include <gtest/gtest.h>
#include <querier/v1/querier.pb.h>
#include <types/v1/types.pb.h>

#include "formats/pprof/reader.h"
#include "formats/protobuf/wire.h"
#include "server/pyroscope/test_server.h"

namespace vesta::server {
namespace {

using querier::v1::SelectMergeStacktracesRequest;
using querier::v1::SelectMergeStacktracesResponse;
using test::kCpuType;
using test::kHeapType;
using test::kStartMs;
using test::profile_of;
using test::SampleSpec;
using test::TestServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Link link_of(uint8_t trace, uint8_t span) {
  Link link;
  link.trace_id[15] = trace;
  link.span_id[7] = span;
  return link;
}

template <class Request>
Request request_of(std::string selector = "{}", std::string_view type = kCpuType) {
  Request request;
  request.set_profile_typeid(std::string(type));
  request.set_label_selector(std::move(selector));
  request.set_start(kStartMs);
  request.set_end(kStartMs + 60'000);
  return request;
}

class StackMethodsTest : public ::testing::Test {
 protected:
  StackMethodsTest() {
    SampleSpec in_span{"main;work;query", 4};
    in_span.link = link_of(1, 2);
    SampleSpec in_other_span{"main;idle", 8};
    in_other_span.link = link_of(1, 3);
    server_.write({profile_of("a", 0, {{"main;work", 10}, {"main;idle", 20}}),
                   profile_of("a", 30, {{"main;work", 1}, in_span, in_other_span}),
                   profile_of("b", 10, {{"main;work", 100}}),
                   profile_of("a", 0, {{"main;heap", 100}}, kHeapType),
                   profile_of("a", 30, {{"main;heap", 300}}, kHeapType)});
  }

  SelectMergeStacktracesResponse merge(const SelectMergeStacktracesRequest& request) const {
    return server_.call<SelectMergeStacktracesResponse>("SelectMergeStacktraces", request);
  }
  int64_t total(const SelectMergeStacktracesRequest& request) const {
    return merge(request).flamegraph().total();
  }

  TestServer server_;
};

TEST_F(StackMethodsTest, MergesServicesAndProfiles) {
  const auto request = request_of<SelectMergeStacktracesRequest>();
  const auto graph = merge(request).flamegraph();
  EXPECT_EQ(graph.total(), 143);
  EXPECT_EQ(graph.max_self(), 111);
  EXPECT_THAT(graph.names(), ElementsAre("total", "main", "idle", "work", "query"));
  ASSERT_EQ(graph.levels_size(), 4);
  EXPECT_THAT(graph.levels(0).values(), ElementsAre(0, 143, 0, 0));
  EXPECT_THAT(graph.levels(1).values(), ElementsAre(0, 143, 0, 1));
  EXPECT_THAT(graph.levels(2).values(), ElementsAre(0, 28, 28, 2, 0, 115, 111, 3));
  EXPECT_THAT(graph.levels(3).values(), ElementsAre(28 + 111, 4, 4, 4));
}

TEST_F(StackMethodsTest, FlameGraphsHaveStringsInJson) {
  const std::string body = fmt::format(
      R"({{"profileTypeID":"{}:delta","labelSelector":"{{service_name=\"b\"}}","start":{},"end":{},)"
      R"("maxNodes":"100","format":"PROFILE_FORMAT_FLAMEGRAPH"}})",
      kCpuType, kStartMs, kStartMs + 60'000);
  EXPECT_EQ(server_.json("SelectMergeStacktraces", body),
            R"({"flamegraph":{"names":["total","main","work"],"levels":[)"
            R"({"values":["0","100","0","0"]},{"values":["0","100","0","1"]},)"
            R"({"values":["0","100","100","2"]}],"total":"100","maxSelf":"100"}})");
}

TEST_F(StackMethodsTest, FlameGraphsHaveTheOfficialFieldNumbers) {
  WireWriter request;
  request.bytes(1, kCpuType);
  request.bytes(2, "{service_name=\"b\"}");
  request.int64(3, kStartMs);
  request.int64(4, kStartMs + 60'000);
  request.int64(5, 1);
  const HttpResponse response =
      server_.querier("SelectMergeStacktraces", "application/proto", request.take());
  WireReader answer(response.body);
  ASSERT_TRUE(answer.next());
  ASSERT_TRUE(answer.is(1, WireType::kBytes));
  WireReader graph = answer.message();
  std::vector<std::string> names;
  std::vector<std::vector<uint64_t>> levels;
  std::map<uint32_t, uint64_t> numbers;
  while (graph.next()) {
    if (graph.is(1, WireType::kBytes)) {
      names.emplace_back(graph.bytes());
    } else if (graph.is(2, WireType::kBytes)) {
      WireReader level = graph.message();
      ASSERT_TRUE(level.next());
      ASSERT_TRUE(level.is(1, WireType::kBytes));
      WireReader packed(level.bytes());
      auto& values = levels.emplace_back();
      while (!packed.at_end()) values.push_back(packed.read_varint());
    } else {
      numbers[graph.field()] = graph.varint();
    }
  }
  EXPECT_THAT(names, ElementsAre("total", "main", "other"));
  EXPECT_THAT(levels, ElementsAre(ElementsAre(0, 100, 0, 0), ElementsAre(0, 100, 0, 1),
                                  ElementsAre(0, 100, 100, 2)));
  EXPECT_EQ(numbers[3], 100U);
  EXPECT_EQ(numbers[4], 100U);
}

TEST_F(StackMethodsTest, NoDataIsAFlameGraphOfTheRootAlone) {
  const auto none = request_of<SelectMergeStacktracesRequest>("{service_name=\"none\"}");
  ASSERT_TRUE(merge(none).has_flamegraph());
  const auto graph = merge(none).flamegraph();
  EXPECT_EQ(graph.total(), 0);
  EXPECT_THAT(graph.names(), ElementsAre("total"));
  ASSERT_EQ(graph.levels_size(), 1);
  EXPECT_THAT(graph.levels(0).values(), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(server_.json("SelectMergeStacktraces",
                         fmt::format(R"({{"profileTypeID":"{}","labelSelector":"{{}}",)"
                                     R"("start":"1","end":"2"}})",
                                     kCpuType)),
            R"({"flamegraph":{"names":["total"],"levels":[{"values":["0","0","0","0"]}]}})");
  auto as_tree = none;
  as_tree.set_format(querier::v1::PROFILE_FORMAT_TREE);
  EXPECT_EQ(merge(as_tree).tree(), "");
}

TEST_F(StackMethodsTest, RefusesWhatCannotBeMeant) {
  const auto status = [&](auto&& change) {
    auto request = request_of<SelectMergeStacktracesRequest>();
    change(request);
    return server_.status("SelectMergeStacktraces", request);
  };
  EXPECT_EQ(status([](auto&) {}), 200);
  EXPECT_EQ(status([](auto& r) { r.set_label_selector(""); }), 400);
  EXPECT_EQ(status([](auto& r) { r.set_label_selector("{"); }), 400);
  EXPECT_EQ(status([](auto& r) { r.set_label_selector("{a=~\"(\"}"); }), 400);
  EXPECT_EQ(status([](auto& r) { r.set_profile_typeid("cpu"); }), 400);
  EXPECT_EQ(status([](auto& r) { r.set_profile_typeid("a:b:c:d:e:f:g"); }), 400);
  EXPECT_EQ(status([](auto& r) { r.clear_start(); }), 400);
  EXPECT_EQ(status([](auto& r) { r.set_end(kStartMs - 1); }), 400);
  EXPECT_EQ(status([](auto& r) { r.set_max_nodes(1'048'577); }), 400);
  EXPECT_EQ(status([](auto& r) { r.set_max_nodes(-1); }), 400);
  EXPECT_EQ(status([](auto& r) { r.add_span_selector("x"); }), 400);
  EXPECT_EQ(status([](auto& r) { r.add_profile_id_selector("x"); }), 400);
  EXPECT_EQ(status([](auto& r) {
              r.add_span_selector("0000000000000002");
              r.add_trace_id_selector("00000000000000000000000000000001");
            }),
            400);
  EXPECT_EQ(server_.querier("SelectMergeStacktraces", "application/proto", "\x0a\xff").status, 400);
}

TEST_F(StackMethodsTest, CutsAfterExactTotals) {
  auto request = request_of<SelectMergeStacktracesRequest>();
  request.set_max_nodes(2);
  const auto graph = merge(request).flamegraph();
  EXPECT_THAT(graph.names(), ElementsAre("total", "main", "work", "other"));
  EXPECT_THAT(graph.levels(2).values(), ElementsAre(0, 115, 111, 2, 0, 28, 28, 3));
  EXPECT_THAT(graph.levels(3).values(), ElementsAre(111, 4, 4, 3));
  EXPECT_EQ(graph.total(), 143);
}

TEST_F(StackMethodsTest, SelectsStacksBelowACallSite) {
  auto request = request_of<SelectMergeStacktracesRequest>();
  request.mutable_stack_trace_selector()->add_call_site()->set_name("main");
  EXPECT_EQ(total(request), 143);
  request.mutable_stack_trace_selector()->add_call_site()->set_name("work");
  EXPECT_EQ(total(request), 115);
  EXPECT_THAT(merge(request).flamegraph().names(), ElementsAre("total", "main", "work", "query"));
  request.mutable_stack_trace_selector()->add_call_site()->set_name("nothing");
  EXPECT_EQ(total(request), 0);
}

TEST_F(StackMethodsTest, SelectsSpansAndTraces) {
  auto by_span = request_of<SelectMergeStacktracesRequest>();
  by_span.add_span_selector("0000000000000002");
  EXPECT_EQ(total(by_span), 4);
  auto by_trace = request_of<SelectMergeStacktracesRequest>();
  by_trace.add_trace_id_selector("00000000000000000000000000000001");
  EXPECT_EQ(total(by_trace), 12);

  auto request = request_of<querier::v1::SelectMergeSpanProfileRequest>();
  const auto none =
      server_.call<querier::v1::SelectMergeSpanProfileResponse>("SelectMergeSpanProfile", request);
  ASSERT_TRUE(none.has_flamegraph());
  EXPECT_EQ(none.flamegraph().total(), 0);
  request.add_span_selector("0000000000000003");
  const auto graph =
      server_.call<querier::v1::SelectMergeSpanProfileResponse>("SelectMergeSpanProfile", request);
  EXPECT_EQ(graph.flamegraph().total(), 8);
  request.set_format(querier::v1::PROFILE_FORMAT_TREE);
  const auto tree =
      server_.call<querier::v1::SelectMergeSpanProfileResponse>("SelectMergeSpanProfile", request);
  EXPECT_THAT(tree.tree(), HasSubstr("idle"));
  EXPECT_FALSE(tree.has_flamegraph());
}

TEST_F(StackMethodsTest, SelectsOneProfile) {
  PointsRequest points;
  points.type = vesta::test::type_of(kCpuType);
  points.selector = vesta::test::selector_of("{service_name=\"b\"}");
  points.range = kAllTime;
  const auto found = server_.engine().points("anonymous", points);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1U);
  auto request = request_of<SelectMergeStacktracesRequest>();
  request.add_profile_id_selector(found->at(0).profile_id);
  EXPECT_EQ(total(request), 100);
}

TEST_F(StackMethodsTest, GaugesAreAveragedOverTime) {
  EXPECT_EQ(total(request_of<SelectMergeStacktracesRequest>("{}", kHeapType)), 200);
}

TEST_F(StackMethodsTest, AnswersTreesAndGraphs) {
  auto request = request_of<SelectMergeStacktracesRequest>("{service_name=\"b\"}");
  request.set_format(querier::v1::PROFILE_FORMAT_TREE);
  EXPECT_EQ(merge(request).tree(), std::string("\x00\x00\x01\x04main\x00\x01\x04work\x64\x00", 17));
  request.set_format(querier::v1::PROFILE_FORMAT_DOT);
  const std::string dot = merge(request).dot();
  EXPECT_THAT(dot, HasSubstr("digraph"));
  EXPECT_THAT(dot, HasSubstr("N1 -> N2 [label=\"100ns\"]"));
  EXPECT_THAT(dot, HasSubstr("main"));
}

int64_t pprof_total(const std::string& bytes) {
  const auto batch = read_pprof(bytes, {});
  EXPECT_TRUE(batch);
  return batch ? total_of(batch->profiles.at(0), 0) : -1;
}

TEST_F(StackMethodsTest, AnswersPprof) {
  auto request = request_of<SelectMergeStacktracesRequest>();
  request.set_format(querier::v1::PROFILE_FORMAT_PPROF);
  EXPECT_EQ(pprof_total(merge(request).pprof().profile().SerializeAsString()), 143);

  auto bare = request_of<querier::v1::SelectMergeProfileRequest>();
  const auto profile = server_.call<google::v1::Profile>("SelectMergeProfile", bare);
  EXPECT_EQ(pprof_total(profile.SerializeAsString()), 143);
  const auto text = [&](int64_t id) { return profile.string_table(static_cast<int>(id)); };
  EXPECT_EQ(text(profile.sample_type(0).type()), "cpu");
  EXPECT_EQ(text(profile.period_type().unit()), "nanoseconds");
  bare.mutable_stack_trace_selector()->add_call_site()->set_name("main");
  bare.mutable_stack_trace_selector()->add_call_site()->set_name("idle");
  EXPECT_EQ(pprof_total(
                server_.call<google::v1::Profile>("SelectMergeProfile", bare).SerializeAsString()),
            28);
  EXPECT_THAT(
      server_.json("SelectMergeProfile",
                   fmt::format(R"({{"profileTypeID":"{}","labelSelector":"{{}}","start":"{}",)"
                               R"("end":"{}"}})",
                               kCpuType, kStartMs, kStartMs + 60'000)),
      HasSubstr(R"({"sampleType":[{"type":")"));
}

TEST_F(StackMethodsTest, KeepsLeavesForGoPgo) {
  auto request = request_of<querier::v1::SelectMergeProfileRequest>();
  auto* pgo = request.mutable_stack_trace_selector()->mutable_go_pgo();
  pgo->set_keep_locations(1);
  pgo->set_aggregate_callees(true);
  request.mutable_stack_trace_selector()->add_call_site()->set_name("not looked at");
  const auto profile = server_.call<google::v1::Profile>("SelectMergeProfile", request);
  EXPECT_EQ(pprof_total(profile.SerializeAsString()), 143);
  for (const auto& sample : profile.sample()) EXPECT_EQ(sample.location_id_size(), 1);
  for (const auto& location : profile.location()) EXPECT_EQ(location.line(0).line(), 0);
  EXPECT_THAT(profile.string_table(), Not(::testing::Contains("main")));
}

TEST_F(StackMethodsTest, ComparesTwoSelections) {
  querier::v1::DiffRequest request;
  *request.mutable_left() = request_of<SelectMergeStacktracesRequest>("{service_name=\"a\"}");
  *request.mutable_right() = request_of<SelectMergeStacktracesRequest>("{service_name=\"b\"}");
  const auto graph = server_.call<querier::v1::DiffResponse>("Diff", request).flamegraph();
  EXPECT_EQ(graph.total(), 143);
  EXPECT_EQ(graph.leftticks(), 43);
  EXPECT_EQ(graph.rightticks(), 100);
  EXPECT_THAT(graph.names(), ElementsAre("total", "main", "idle", "work", "query"));
  EXPECT_THAT(graph.levels(0).values(), ElementsAre(0, 43, 0, 0, 100, 0, 0));
  EXPECT_THAT(graph.levels(2).values(),
              ElementsAre(0, 28, 28, 0, 0, 0, 2, 0, 15, 11, 0, 100, 100, 3));
  request.mutable_right()->clear_label_selector();
  EXPECT_EQ(server_.status("Diff", request), 400);
  EXPECT_EQ(server_.status("Diff", querier::v1::DiffRequest()), 400);
}

TEST_F(StackMethodsTest, DiffsHaveTheirNamesInJson) {
  const std::string side = fmt::format(
      R"({{"profileTypeID":"{}","labelSelector":"{{service_name=\"b\"}}","start":"{}","end":"{}"}})",
      kCpuType, kStartMs, kStartMs + 60'000);
  EXPECT_THAT(server_.json("Diff", R"({"left":)" + side + R"(,"right":)" + side + "}"),
              HasSubstr(R"("total":"200","maxSelf":"100","leftTicks":"100","rightTicks":"100")"));
}

TEST_F(StackMethodsTest, RefusesAQueryOverItsBudget) {
  PyroscopeQueryOptions options;
  options.budget_bytes = 1;
  TestServer small(options);
  small.write({profile_of("a", 0, {{"main;work", 10}, {"main;idle", 20}})});
  const HttpResponse response =
      small.querier("SelectMergeStacktraces", "application/proto",
                    request_of<SelectMergeStacktracesRequest>().SerializeAsString());
  EXPECT_EQ(response.status, 413);
  EXPECT_THAT(response.body, HasSubstr("resource_exhausted"));
}

}  // namespace
}  // namespace vesta::server
