#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <parca/profilestore/v1alpha1/profilestore.pb.h>
#include <push/v1/push.pb.h>

#include "formats/common/compression.h"
#include "formats/pprof/writer.h"
#include "ingest/test_engine.h"
#include "profile/test_profiles.h"
#include "server/ingest/test_server.h"
#include "store/memory/memory_engine.h"

namespace vesta::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using vesta::test::batch_from;

constexpr std::string_view kPush = "/push.v1.PusherService/Push";
constexpr std::string_view kWriteRaw = "/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw";

std::string pprof(int64_t value = 7, int64_t time_ns = test::kIngestTime) {
  ProfileBatch batch = batch_from({{"main;work", value}});
  batch.profiles[0].time_ns = time_ns;
  return write_pprof(batch);
}

push::v1::RawProfileSeries* add_series(push::v1::PushRequest& request, const std::string& service) {
  auto* series = request.add_series();
  const auto label = [&](const char* name, const std::string& value) {
    auto* pair = series->add_labels();
    pair->set_name(name);
    pair->set_value(value);
  };
  label("__name__", "process_cpu");
  label("__delta__", "false");
  label("service_name", service);
  return series;
}

class Push : public ::testing::Test {
 protected:
  vesta::test::RecordingEngine engine_;
  test::IngestServer server_{engine_};
};

TEST_F(Push, EverySeriesIsStored) {
  push::v1::PushRequest request;
  auto* series = add_series(request, "a");
  series->add_samples()->set_raw_profile(gzip(pprof(1)));
  series->add_samples()->set_raw_profile(pprof(2));
  series->mutable_samples(0)->set_id("0fa1c5de-0000-0000-0000-000000000000");
  add_series(request, "b")->add_samples()->set_raw_profile(pprof(4));
  const auto answer = server_.call(kPush, request.SerializeAsString());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(*answer, "");
  EXPECT_THAT(engine_.totals_by_series(),
              ElementsAre(Pair("process_cpu:cpu:nanoseconds::{service_name=a}", 3),
                          Pair("process_cpu:cpu:nanoseconds::{service_name=b}", 4)));
  EXPECT_EQ(engine_.flushes, 1);  // one wait for the disk
  EXPECT_FALSE(engine_.written[0].options.durable);
}

TEST_F(Push, OneProfileIsDurableAtOnce) {
  push::v1::PushRequest request;
  add_series(request, "a")->add_samples()->set_raw_profile(pprof());
  ASSERT_TRUE(server_.call(kPush, request.SerializeAsString()).ok());
  EXPECT_TRUE(engine_.written.at(0).options.durable);
  EXPECT_EQ(engine_.flushes, 0);
}

TEST_F(Push, FailuresAreCollectedAndTheRestIsStored) {
  push::v1::PushRequest request;
  add_series(request, "a")->add_samples()->set_raw_profile("no pprof");
  add_series(request, "b")->add_samples()->set_raw_profile(pprof(4));
  add_series(request, "c")->add_samples()->set_raw_profile(pprof(4, 1));
  const auto answer = server_.call(kPush, request.SerializeAsString());
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(answer.error().message, HasSubstr("series[0].samples[0]: pprof"));
  EXPECT_THAT(answer.error().message, HasSubstr("2 of 3 profiles failed"));
  EXPECT_THAT(engine_.totals_by_series(), ElementsAre(Pair(HasSubstr("service_name=b"), 4)));
}

TEST_F(Push, EmptyRequestsAreFine) {
  EXPECT_TRUE(server_.call(kPush, "").ok());
  push::v1::PushRequest request;
  add_series(request, "a");
  EXPECT_TRUE(server_.call(kPush, request.SerializeAsString()).ok());
}

TEST_F(Push, TruncationIsRefusedOrHarmless) {
  push::v1::PushRequest request;
  add_series(request, "a")->add_samples()->set_raw_profile(pprof(4));
  const std::string whole = request.SerializeAsString();
  for (size_t size = 1; size < whole.size(); ++size)
    EXPECT_FALSE(server_.call(kPush, whole.substr(0, size)).ok()) << size;
  EXPECT_TRUE(engine_.written.empty());
}

TEST_F(Push, HundredThousandLabelsAreRefused) {
  push::v1::PushRequest request;
  auto* series = add_series(request, "a");
  for (int i = 0; i < 100'000; ++i) {
    auto* pair = series->add_labels();
    pair->set_name("l" + std::to_string(i));
    pair->set_value("v");
  }
  series->add_samples()->set_raw_profile(pprof(4));
  const auto answer = server_.call(kPush, request.SerializeAsString());
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("labels"));
}

TEST_F(Push, CumulativeProfilesOfGoBecomeDifferences) {
  const auto push = [&](int64_t seconds, int64_t value) {
    ProfileBatch batch = batch_from({{"main;lock", value}}, "delay", "nanoseconds");
    batch.profiles[0].time_ns = test::kIngestTime + seconds * 1'000'000'000;
    push::v1::PushRequest request;
    auto* series = request.add_series();
    auto* pair = series->add_labels();
    pair->set_name("__name__");
    pair->set_value("mutex");
    series->add_samples()->set_raw_profile(write_pprof(batch));
    return server_.call(kPush, request.SerializeAsString()).ok();
  };
  ASSERT_TRUE(push(0, 100));
  // It may be the only one: `profilecli upload heap.pb.gz` is not answered with nothing.
  EXPECT_THAT(engine_.totals_by_series(), ElementsAre(Pair(HasSubstr("mutex:delay"), 100)));
  ASSERT_TRUE(push(15, 130));
  EXPECT_THAT(engine_.totals_by_series(), ElementsAre(Pair(HasSubstr("mutex:delay"), 130)));
}

TEST(PushReadings, AnswerSaysWhatWasOnlyCompared) {
  const auto engine = make_memory_engine();
  const auto push = [&](test::IngestServer& server, int64_t seconds, int64_t value) {
    ProfileBatch batch = batch_from({{"main;lock", value}}, "delay", "nanoseconds");
    batch.profiles[0].time_ns = test::kIngestTime + seconds * 1'000'000'000;
    push::v1::PushRequest request;
    request.add_series()->add_samples()->set_raw_profile(write_pprof(batch));
    const auto answer = server.call(kPush, request.SerializeAsString());
    push::v1::PushResponse response;
    EXPECT_TRUE(answer.ok() && response.ParseFromString(*answer));
    return response.baselines();
  };
  test::IngestServer first(*engine);
  EXPECT_EQ(push(first, 0, 100), 0u);
  test::IngestServer restarted(*engine);
  EXPECT_EQ(push(restarted, 15, 130), 1u);
  EXPECT_EQ(push(restarted, 14, 120), 1u);
  EXPECT_EQ(push(restarted, 30, 131), 0u);
}

TEST(PushDuplicates, AreWrittenOnce) {
  const auto engine = make_memory_engine();
  test::IngestServer server(*engine);
  push::v1::PushRequest request;
  add_series(request, "a")->add_samples()->set_raw_profile(pprof(4, test::kIngestTime + 1));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(server.call(kPush, request.SerializeAsString()).ok());
  SelectRequest select;
  select.type = *ProfileType::parse("process_cpu:cpu:nanoseconds::");
  select.range = kAllTime;
  const auto found = engine->select("anonymous", select);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->at(0).total, 4);
  EXPECT_EQ(server.ingest.counters().of(IngestProtocol::kPyroscopePush).duplicates, 2u);
}

TEST(PushDuplicates, OfASecondAreThoseOfOneId) {
  const auto engine = make_memory_engine();
  test::IngestServer server(*engine);
  push::v1::PushRequest request;
  auto* sample = add_series(request, "a")->add_samples();
  sample->set_raw_profile(pprof(4));
  const auto total = [&] {
    SelectRequest select;
    select.type = *ProfileType::parse("process_cpu:cpu:nanoseconds::");
    select.range = kAllTime;
    return engine->select("anonymous", select)->at(0).total;
  };
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(server.call(kPush, request.SerializeAsString()).ok());
  EXPECT_EQ(total(), 12);
  sample->set_id("0fa1c5de-0000-0000-0000-000000000000");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(server.call(kPush, request.SerializeAsString()).ok());
  EXPECT_EQ(total(), 16);
}

TEST_F(Push, ParcaWritesRawProfiles) {
  parca::profilestore::v1alpha1::WriteRawRequest request;
  auto* series = request.add_series();
  const auto label = [&](const char* name, const char* value) {
    auto* pair = series->mutable_labels()->add_labels();
    pair->set_name(name);
    pair->set_value(value);
  };
  label("__name__", "process_cpu");
  label("job", "api");
  series->add_samples()->set_raw_profile(gzip(pprof(5)));
  ASSERT_TRUE(server_.call(kWriteRaw, request.SerializeAsString()).ok());
  EXPECT_THAT(
      engine_.totals_by_series(),
      ElementsAre(Pair("process_cpu:cpu:nanoseconds::{job=api,service_name=unknown_service}", 5)));
}

TEST_F(Push, ParcaGatewayTakesJson) {
  // gzip of nothing is no pprof, but well-formed base64.
  auto response = server_.post("/profiles/writeraw", {}, R"({"series":[{"labels":{"labels":[
      {"name":"__name__","value":"x"}]},"samples":[{"rawProfile":"AAAA"}]}]})");
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, HasSubstr("pprof"));
  response = server_.post("/profiles/writeraw", {}, R"({"series":[], "unknown": 1})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "{}");
  for (const char* bad : {"", "{", "[]", R"({"series": 7})"})
    EXPECT_EQ(server_.post("/profiles/writeraw", {}, bad).status, 400) << bad;
}

}  // namespace
}  // namespace vesta::server
