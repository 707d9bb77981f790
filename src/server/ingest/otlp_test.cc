#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/otlp/test_message.h"
#include "formats/otlp/writer.h"
#include "ingest/test_engine.h"
#include "profile/test_profiles.h"
#include "server/ingest/test_server.h"

namespace vesta::server {
namespace {

using otlp::TestMessage;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr std::string_view kExport =
    "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export";
constexpr std::string_view kPath = "/v1development/profiles";

TestMessage message() {
  TestMessage out;
  out.time = static_cast<uint64_t>(test::kIngestTime);
  // 1 = c < b < a; thread.name and thread.id are attributes 3 and 4.
  out.samples = {{.stack = 1, .values = {2}, .attributes = {3, 4}, .link = 1, .times = {}},
                 {.stack = 2, .values = {3}, .attributes = {}, .link = 0, .times = {}}};
  WireWriter resource;
  resource.always_bytes(1, TestMessage::key_value("service.name", TestMessage::text("cart")));
  resource.always_bytes(1, TestMessage::key_value("process.pid", TestMessage::number(42)));
  out.resource = resource.take();
  return out;
}

// The bad profile, then a good one.
std::string with_good_profile(const TestMessage& bad) {
  const TestMessage good = message();
  WireWriter scopes;
  scopes.always_bytes(2, bad.encode_profile());
  scopes.always_bytes(2, good.encode_profile());
  WireWriter resources;
  resources.message(2, scopes);
  WireWriter out;
  out.message(1, resources);
  out.always_bytes(2, good.encode_dictionary());
  return out.take();
}

class Otlp : public ::testing::Test {
 protected:
  vesta::test::RecordingEngine engine_;
  test::IngestServer server_{engine_};
};

TEST_F(Otlp, CountedSamplesBecomeCpuTime) {
  const auto answer = server_.call(kExport, message().encode());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(*answer, "");
  // The period of the message is 50 ms.
  EXPECT_THAT(engine_.totals_by_series(),
              ElementsAre(Pair("process_cpu:cpu:nanoseconds:cpu:nanoseconds{process.pid=42,"
                               "service_name=cart}",
                               250'000'000)));
  const ProfileBatch& batch = engine_.written[0].batch;
  EXPECT_EQ(find_inconsistency(batch), "");
  const Samples& samples = batch.profiles[0].samples;
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(batch.dictionary.links[samples.link(0).index()].span_id[0], 1);
  EXPECT_EQ(batch.dictionary.label_sets[samples.label_set(0)].size(), 2u);  // threads stay
}

TEST_F(Otlp, OldLayoutsAreUnderstood) {
  for (const auto& layout : {otlp::kLayout1_8, otlp::kLayout1_9, otlp::kLayout1_10}) {
    engine_.written.clear();
    TestMessage old = message();
    old.layout = layout;
    ASSERT_TRUE(server_.call(kExport, old.encode()).ok());
    EXPECT_THAT(engine_.totals_by_series(), ElementsAre(Pair(HasSubstr("cart"), 250'000'000)));
  }
}

TEST_F(Otlp, HttpAnswersInTheEncodingOfTheRequest) {
  auto response = server_.post(kPath, {}, message().encode(), "application/x-protobuf");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/x-protobuf");
  EXPECT_EQ(response.body, "");

  ProfileBatch batch = vesta::test::batch_from({{"a;b", 7}}, "off_cpu");
  batch.profiles[0].time_ns = test::kIngestTime;
  response = server_.post(kPath, {}, write_otlp_json(batch), "application/json; charset=utf-8");
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body, "{}");
  EXPECT_EQ(engine_.written.size(), 2u);
  EXPECT_THAT(vesta::test::series_totals(engine_.written[1].batch),
              ElementsAre(Pair("off_cpu:off_cpu:nanoseconds::{service_name=unknown_service}", 7)));
}

TEST_F(Otlp, AttributesOfScopesAreLabelsUnlessTheResourceHasThem) {
  TestMessage scoped = message();
  WireWriter scope;
  scope.always_bytes(3, TestMessage::key_value("shard", TestMessage::text("7")));
  scope.always_bytes(3, TestMessage::key_value("process.pid", TestMessage::text("43")));
  scoped.scope = scope.take();
  ASSERT_TRUE(server_.call(kExport, scoped.encode()).ok());
  EXPECT_THAT(engine_.totals_by_series(),
              ElementsAre(Pair("process_cpu:cpu:nanoseconds:cpu:nanoseconds{otel.scope.attribute."
                               "process.pid=43,process.pid=42,service_name=cart,shard=7}",
                               250'000'000)));
}

TEST_F(Otlp, BadProfileIsRefusedAlone) {
  TestMessage bad = message();
  bad.time = 1;
  auto response = server_.post(kPath, {}, with_good_profile(bad), "application/protobuf");
  ASSERT_EQ(response.status, 200);
  WireReader reader(response.body);
  ASSERT_TRUE(reader.next() && reader.is(1, WireType::kBytes));
  WireReader partial = reader.message();
  ASSERT_TRUE(partial.next());
  EXPECT_EQ(partial.varint(), 1u);
  ASSERT_TRUE(partial.next());
  EXPECT_THAT(partial.bytes(), HasSubstr("outside the accepted range"));
  EXPECT_EQ(engine_.written.size(), 1u);
}

TEST_F(Otlp, ProfileWithABadIndexIsRefusedAlone) {
  TestMessage bad = message();
  bad.samples[0].stack = 99;
  const auto answer = server_.call(kExport, with_good_profile(bad));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_THAT(*answer, HasSubstr("profiles[0].samples[0].stack_index: 99"));
  EXPECT_EQ(engine_.written.size(), 1u);
  EXPECT_EQ(server_.ingest.counters().noted(IngestNote::kRejectedProfiles), 1u);
}

TEST_F(Otlp, RequestOfBadProfilesOnlyIsAnError) {
  TestMessage bad = message();
  bad.time = 4'102'444'800'000'000'000;  // 2100
  auto response = server_.post(kPath, {}, bad.encode(), "application/x-protobuf");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.content_type, "application/x-protobuf");
  WireReader status(response.body);  // google.rpc.Status
  ASSERT_TRUE(status.next());
  EXPECT_EQ(status.varint(), 3u);
  response = server_.post(kPath, {}, "{", "application/json");
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, HasSubstr("\"code\":3"));
}

TEST_F(Otlp, OtherContentTypesAre415) {
  for (const char* type : {"", "text/plain", "application/octet-stream"})
    EXPECT_EQ(server_.post(kPath, {}, message().encode(), type).status, 415);
}

TEST_F(Otlp, EmptyExportIsFine) {
  const auto answer = server_.call(kExport, "");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(*answer, "");
}

TEST_F(Otlp, TruncationIsNeverTaken) {
  const std::string whole = message().encode();
  for (size_t size = 1; size < whole.size(); ++size) {
    const auto answer = server_.call(kExport, whole.substr(0, size));
    EXPECT_TRUE(!answer.ok() || engine_.written.empty()) << size;
  }
}

TEST_F(Otlp, OriginalPayloadsAreCounted) {
  TestMessage with = message();
  WireWriter fields;
  fields.bytes(9, "pprof");
  fields.bytes(10, "abc");
  with.profile_fields = fields.take();
  ASSERT_TRUE(server_.call(kExport, with.encode()).ok());
  EXPECT_EQ(server_.ingest.counters().noted(IngestNote::kOriginalPayloads), 1u);
}

}  // namespace
}  // namespace vesta::server
