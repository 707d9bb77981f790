#include <fmt/format.h>
#include <gmock/gmock.h>
#include <google/protobuf/repeated_ptr_field.h>
#include <gtest/gtest.h>
#include <querier/v1/querier.pb.h>
#include <types/v1/types.pb.h>

#include "formats/protobuf/wire.h"
#include "server/pyroscope/test_server.h"

namespace vesta::server {
namespace {

using test::kCpuType;
using test::kHeapType;
using test::kStartMs;
using test::profile_of;
using test::TestServer;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class IndexMethodsTest : public ::testing::Test {
 protected:
  IndexMethodsTest() {
    auto a = profile_of("a", 0, {{"main", 1}});
    a.labels["k8s.pod"] = "p1";
    a.labels["zone"] = "x";
    server_.write(
        {a, profile_of("a", 1, {{"main", 5}}, kHeapType), profile_of("b", 2, {{"main", 2}})});
    server_.write({profile_of("secret", 0, {{"main", 1}})}, "someone else");
  }

  static types::v1::LabelNamesRequest names_request(std::vector<std::string> matchers) {
    types::v1::LabelNamesRequest request;
    for (auto& matcher : matchers) request.add_matchers(std::move(matcher));
    request.set_start(kStartMs);
    request.set_end(kStartMs + 60'000);
    return request;
  }
  static types::v1::LabelValuesRequest values_request(std::string name,
                                                      std::vector<std::string> matchers) {
    types::v1::LabelValuesRequest request;
    request.set_name(std::move(name));
    for (auto& matcher : matchers) request.add_matchers(std::move(matcher));
    request.set_start(kStartMs);
    request.set_end(kStartMs + 60'000);
    return request;
  }

  TestServer server_;
};

TEST_F(IndexMethodsTest, ListsTypesOfTheLastHourWithoutARange) {
  const auto response = server_.call<querier::v1::ProfileTypesResponse>(
      "ProfileTypes", querier::v1::ProfileTypesRequest());
  ASSERT_EQ(response.profile_types_size(), 2);
  const auto& cpu = response.profile_types(1);
  EXPECT_EQ(cpu.id(), kCpuType);
  EXPECT_EQ(cpu.name(), "process_cpu");
  EXPECT_EQ(cpu.sample_type(), "cpu");
  EXPECT_EQ(cpu.sample_unit(), "nanoseconds");
  EXPECT_EQ(cpu.period_type(), "cpu");
  EXPECT_EQ(cpu.period_unit(), "nanoseconds");
}

TEST_F(IndexMethodsTest, TypesHaveTheOfficialNamesInJson) {
  EXPECT_THAT(server_.json("ProfileTypes", "{}"),
              HasSubstr(R"({"profileTypes":[{"ID":"memory:inuse_space:bytes:space:bytes",)"
                        R"("name":"memory","sampleType":"inuse_space","sampleUnit":"bytes",)"
                        R"("periodType":"space","periodUnit":"bytes"})"));
}

TEST_F(IndexMethodsTest, TypesHaveTheOfficialFieldNumbers) {
  WireWriter request;
  request.int64(1, kStartMs);
  request.int64(2, kStartMs + 60'000);
  const HttpResponse response =
      server_.querier("ProfileTypes", "application/proto", request.take());
  std::vector<std::string> ids;
  WireReader types(response.body);
  while (types.next()) {
    ASSERT_TRUE(types.is(1, WireType::kBytes));
    std::map<uint32_t, std::string> fields;
    WireReader type = types.message();
    while (type.next()) fields[type.field()] = type.bytes();
    EXPECT_EQ(fields[1],
              fields[2] + ":" + fields[4] + ":" + fields[5] + ":" + fields[6] + ":" + fields[7]);
    EXPECT_FALSE(fields.contains(3));
    ids.push_back(fields[1]);
  }
  EXPECT_THAT(ids, ElementsAre(kHeapType, kCpuType));
}

TEST_F(IndexMethodsTest, HidesLabelNamesThatNeedQuotes) {
  const auto request = names_request({});
  const auto plain = server_.call<types::v1::LabelNamesResponse>("LabelNames", request);
  EXPECT_THAT(plain.names(), Contains("service_name"));
  EXPECT_THAT(plain.names(), Contains("__profile_type__"));
  EXPECT_THAT(plain.names(), Not(Contains("k8s.pod")));
  const auto all = server_.call<types::v1::LabelNamesResponse>(
      "LabelNames", request, {{"accept", "*/*; allow-utf8-labelnames=true"}});
  EXPECT_THAT(all.names(), Contains("k8s.pod"));
  const HttpResponse malformed = server_.querier("LabelNames", "application/proto",
                                                 request.SerializeAsString(), {{"accept", "; ;="}});
  EXPECT_EQ(malformed.status, 400);
}

TEST_F(IndexMethodsTest, AllMatchersHold) {
  const auto values = [&](std::vector<std::string> matchers) {
    const auto response = server_.call<types::v1::LabelValuesResponse>(
        "LabelValues", values_request("service_name", std::move(matchers)));
    return std::vector<std::string>(response.names().begin(), response.names().end());
  };
  EXPECT_THAT(values({}), ElementsAre("a", "b"));
  EXPECT_THAT(values({"{}"}), ElementsAre("a", "b"));
  EXPECT_THAT(values({R"({service_name=~"a|b"})", R"({zone="x"})"}), ElementsAre("a"));
  EXPECT_THAT(values({std::string(kHeapType) + "{}"}), ElementsAre("a"));
  EXPECT_THAT(values({R"({service_name="a"})", R"({service_name="b"})"}), ElementsAre());
}

TEST_F(IndexMethodsTest, NeedsARangeAndNames) {
  auto names = names_request({});
  names.set_end(0);
  EXPECT_EQ(server_.status("LabelNames", names), 400);
  auto values = values_request("a", {""});
  EXPECT_EQ(server_.status("LabelValues", values), 400);
  EXPECT_EQ(server_.status("LabelValues", values_request("", {})), 400);
  querier::v1::SeriesRequest series;
  EXPECT_EQ(server_.status("Series", series), 400);
  series.set_start(2);
  series.set_end(1);
  EXPECT_EQ(server_.status("Series", series), 400);
}

TEST_F(IndexMethodsTest, SeriesAreProjectedAndListedOnce) {
  const std::string range = fmt::format(R"("start":"{}","end":"{}")", kStartMs, kStartMs + 60'000);
  EXPECT_EQ(
      server_.json("Series", R"({"labelNames":["service_name","__profile_type__"],)" + range + "}"),
      R"({"labelsSet":[)"
      R"({"labels":[{"name":"__profile_type__","value":"memory:inuse_space:bytes:space:bytes"},)"
      R"({"name":"service_name","value":"a"}]},)"
      R"({"labels":[{"name":"__profile_type__","value":"process_cpu:cpu:nanoseconds:cpu:nanoseconds"},)"
      R"({"name":"service_name","value":"a"}]},)"
      R"({"labels":[{"name":"__profile_type__","value":"process_cpu:cpu:nanoseconds:cpu:nanoseconds"},)"
      R"({"name":"service_name","value":"b"}]}]})");
  EXPECT_EQ(server_.json("Series", R"({"labelNames":["service_name"],)" + range + "}"),
            R"({"labelsSet":[{"labels":[{"name":"service_name","value":"a"}]},)"
            R"({"labels":[{"name":"service_name","value":"b"}]}]})");
  EXPECT_EQ(server_.json("Series", R"({"labelNames":["zone"],)" + range + "}"),
            R"({"labelsSet":[{"labels":[{"name":"zone","value":"x"}]}]})");
  EXPECT_EQ(server_.json("Series", R"({"labelNames":["k8s.pod"],)" + range + "}"), "{}");
  EXPECT_THAT(server_.json("Series", "{" + range + "}"), Not(HasSubstr("k8s.pod")));
}

TEST_F(IndexMethodsTest, StatsSayWhetherThereIsData) {
  const auto stats = server_.call<types::v1::GetProfileStatsResponse>(
      "GetProfileStats", types::v1::GetProfileStatsRequest());
  EXPECT_TRUE(stats.data_ingested());
  EXPECT_EQ(stats.oldest_profile_time(), kStartMs);
  EXPECT_EQ(stats.newest_profile_time(), kStartMs + 2000);
  Caller nobody;
  nobody.tenant = "nobody";
  const auto none = server_.call<types::v1::GetProfileStatsResponse>(
      "GetProfileStats", types::v1::GetProfileStatsRequest(), {}, nobody);
  EXPECT_FALSE(none.data_ingested());
}

TEST_F(IndexMethodsTest, TypesThatHoldOnlyZerosAreNotListed) {
  constexpr std::string_view kExceptions = "exception:exceptions:count:exception:count";
  const auto ids = [&] {
    const auto response = server_.call<querier::v1::ProfileTypesResponse>(
        "ProfileTypes", querier::v1::ProfileTypesRequest());
    std::vector<std::string> listed;
    for (const auto& type : response.profile_types()) listed.push_back(type.id());
    return listed;
  };
  server_.write(
      {profile_of("a", 0, {{"main", 0}}, kExceptions), profile_of("b", 9, {}, kExceptions)});
  EXPECT_THAT(ids(), ElementsAre(kHeapType, kCpuType));
  server_.write({profile_of("b", 10, {{"main", 1}}, kExceptions)});
  EXPECT_THAT(ids(), ElementsAre(kExceptions, kHeapType, kCpuType));
  EXPECT_THAT(ids(), Contains(kExceptions)) << "the second time, it is remembered";
}

TEST_F(IndexMethodsTest, AnalysesAreEmpty) {
  EXPECT_EQ(server_.json("AnalyzeQuery", R"({"query":"{}"})"), "{}");
}

TEST_F(IndexMethodsTest, SaysWhatIsNotImplemented) {
  const HttpResponse response =
      server_.post("/vcs.v1.VCSService/GetFile", "application/json", R"({"a":1})");
  EXPECT_EQ(response.status, 501);
  EXPECT_THAT(response.body, HasSubstr(R"("code":"unimplemented")"));
}

TEST_F(IndexMethodsTest, OneTenantSeesNothingOfAnother) {
  EXPECT_THAT(
      server_
          .call<types::v1::LabelValuesResponse>("LabelValues", values_request("service_name", {}))
          .names(),
      Not(Contains("secret")));
  Caller other;
  other.tenant = "someone else";
  EXPECT_THAT(server_
                  .call<types::v1::LabelValuesResponse>(
                      "LabelValues", values_request("service_name", {}), {}, other)
                  .names(),
              ElementsAre("secret"));
}

}  // namespace
}  // namespace vesta::server
