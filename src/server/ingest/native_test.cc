#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/common/compression.h"
#include "formats/otlp/writer.h"
#include "formats/pprof/writer.h"
#include "formats/speedscope/writer.h"
#include "ingest/test_engine.h"
#include "profile/test_profiles.h"
#include "server/ingest/test_server.h"

namespace vesta::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using vesta::test::batch_from;

class NativeProfiles : public ::testing::Test {
 protected:
  HttpResponse post(Fields query, std::string body) {
    return server_.post("/api/v1/profiles", std::move(query), std::move(body));
  }
  vesta::test::RecordingEngine engine_;
  test::IngestServer server_{engine_};
};

TEST_F(NativeProfiles, AnyFormatIsTaken) {
  const ProfileBatch batch = batch_from({{"a;b", 7}});
  for (const std::string& body :
       {write_pprof(batch), gzip(write_pprof(batch)), zstd(write_pprof(batch)), write_otlp(batch),
        write_otlp_json(batch)}) {
    engine_.written.clear();
    const auto response = post({{"service_name", "s"}}, body);
    ASSERT_EQ(response.status, 200) << response.body;
    EXPECT_THAT(response.body, HasSubstr("\"profiles\":1"));
    EXPECT_THAT(engine_.totals_by_series(),
                ElementsAre(Pair("process_cpu:cpu:nanoseconds::{service_name=s}", 7)));
  }
}

TEST_F(NativeProfiles, TypeSaysWhatStacksCount) {
  const std::vector<std::tuple<const char*, const char*, int64_t>> cases = {
      {"cpu", "process_cpu:cpu:nanoseconds:cpu:nanoseconds", 70'000'000},
      {"alloc_space", "memory:alloc_space:bytes::", 7},
      {"memory:alloc_space:bytes:space:bytes", "memory:alloc_space:bytes:space:bytes", 7},
      {"flights", "flights:samples:count::", 7},
      {"", "process_cpu:samples:count::", 7}};
  for (const auto& [type, id, total] : cases) {
    engine_.written.clear();
    ASSERT_EQ(post({{"type", type}}, "a;b 7\n").status, 200);
    EXPECT_THAT(engine_.totals_by_series(),
                ElementsAre(Pair(std::string(id) + "{service_name=unknown_service}", total)));
  }
}

TEST_F(NativeProfiles, FiveParts) {
  EXPECT_EQ(post({{"type", "a:b"}}, "a;b 7\n").status, 400);
}

TEST_F(NativeProfiles, LabelsAndTimeAreSet) {
  for (const char* labels : {R"({region="eu", pod="a,b"})", "region=eu,pod=a"}) {
    engine_.written.clear();
    ASSERT_EQ(post({{"labels", labels}, {"time", "1799999000"}}, "a;b 7\n").status, 200);
    EXPECT_THAT(engine_.totals_by_series(), ElementsAre(Pair(HasSubstr("region=eu"), 7)));
    // Below the millisecond, digits tell equal profiles apart.
    EXPECT_EQ(engine_.written[0].batch.profiles[0].time_ns / 1'000'000, 1'799'999'000'000);
  }
}

TEST_F(NativeProfiles, TimeIsAnyWordForATime) {
  int64_t now_ms = 0;
  ASSERT_EQ(post({{"time", "now"}}, "a;b 7\n").status, 200);
  now_ms = engine_.written[0].batch.profiles[0].time_ns / 1'000'000;
  for (const char* text : {"-1h", "now-60min"}) {
    engine_.written.clear();
    const auto response = post({{"time", text}}, "a;b 7\n");
    ASSERT_EQ(response.status, 200) << response.body;
    const int64_t time_ms = engine_.written[0].batch.profiles[0].time_ns / 1'000'000;
    EXPECT_NEAR(static_cast<double>(now_ms - time_ms), 3'600'000, 60'000) << text;
  }
}

TEST_F(NativeProfiles, LabelsMayComeOneByOne) {
  ASSERT_EQ(post({{"labels", "region=eu"}, {"labels", "pod=a"}}, "a;b 7\n").status, 200);
  EXPECT_THAT(engine_.totals_by_series(), ElementsAre(Pair(HasSubstr("pod=a,region=eu"), 7)));
}

TEST_F(NativeProfiles, BadParametersAreRefused) {
  for (const Fields& query :
       std::vector<Fields>{{{"labels", "{a=~\"b\"}"}},
                           {{"labels", "{a=\"b"}},
                           {{"labels", "a"}},
                           {{"labels", "service_name=a"}, {"service_name", "b"}},
                           {{"time", "yesterday"}},
                           {{"time", "1"}},
                           {{"sample_rate", "x"}},
                           {{"format", "nonsense"}}}) {
    const auto response = post(query, "a;b 7\n");
    EXPECT_EQ(response.status, 400) << query[0].second << response.body;
    EXPECT_THAT(response.body, HasSubstr("invalid_argument"));
  }
  EXPECT_EQ(post({}, "").status, 400);
  EXPECT_EQ(post({}, "nothing that we know").status, 400);
  EXPECT_TRUE(engine_.written.empty());
}

TEST_F(NativeProfiles, CountersAreSubtractedOnRequest) {
  const auto post_reading = [&](const char* time, const char* count) {
    return post({{"type", "alloc_space"}, {"delta", "true"}, {"time", time}},
                std::string("a;b ") + count)
        .status;
  };
  EXPECT_EQ(post_reading("1799999000", "100"), 200);
  EXPECT_EQ(post_reading("1799999010", "150"), 200);
  EXPECT_THAT(engine_.totals_by_series(), ElementsAre(Pair(HasSubstr("alloc_space"), 50)));
}

}  // namespace
}  // namespace vesta::server
