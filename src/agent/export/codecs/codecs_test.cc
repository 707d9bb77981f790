#include <gmock/gmock.h>
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>
#include <opentelemetry/proto/collector/profiles/v1development/profiles_service.pb.h>
#include <push/v1/push.pb.h>

#include <set>

#include "agent/export/codecs/payload_codecs.h"
#include "agent/export/codecs/profile_event.h"
#include "agent/export/codecs/test_window.h"
#include "agent/export/senders/file_sender.h"
#include "base/json_reader.h"
#include "base/utf8.h"
#include "formats/common/compression.h"
#include "formats/otlp/reader.h"
#include "formats/pprof/reader.h"
#include "formats/protobuf/wire.h"
#include "profile/test_profiles.h"

namespace vesta::agent {
namespace {

using test::kPeriod;
using test::window_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
namespace otlp_pb = opentelemetry::proto::collector::profiles::v1development;

std::vector<Payload> encode(const PayloadCodec& codec, const ProfileBatch& batch) {
  return codec.encode(batch.dictionary, batch.profiles);
}

TEST(OtlpCodec, SaysAllOfAWindowInOnePayload) {
  const ProfileBatch batch = window_of(50);
  const auto payloads = encode(*make_otlp_codec("1.2.3"), batch);
  ASSERT_EQ(payloads.size(), 1U);
  EXPECT_EQ(payloads[0].profiles, 50U);
  const auto back = read_otlp(payloads[0].bytes, {});
  ASSERT_TRUE(back.ok()) << back.error().message;
  ASSERT_EQ(back->profiles.size(), 50U);
  EXPECT_EQ(vesta::test::total_of_type(*back, "cpu"), vesta::test::total_of_type(batch, "cpu"));
  otlp_pb::ExportProfilesServiceRequest request;
  ASSERT_TRUE(request.ParseFromString(payloads[0].bytes)) << "text that is no UTF-8?";
  EXPECT_EQ(request.resource_profiles_size(), 50);
  const auto& scope = request.resource_profiles(0).scope_profiles(0).scope();
  EXPECT_EQ(scope.name(), "vesta");
  EXPECT_EQ(scope.version(), "1.2.3");
  EXPECT_EQ(request.dictionary().string_table(0), "");
  for (const auto& text : request.dictionary().string_table()) EXPECT_TRUE(is_valid_utf8(text));
  bool has_build_id = false;
  for (const auto& attribute : request.dictionary().attribute_table()) {
    const auto& key = request.dictionary().string_table(attribute.key_strindex());
    has_build_id |= key == "process.executable.build_id.gnu";
  }
  EXPECT_TRUE(has_build_id);
}

TEST(OtlpCodec, CutsWhatIsTooLargeForOnePayload) {
  const ProfileBatch batch = window_of(20);
  const auto payloads = encode(*make_otlp_codec("1", 1000), batch);
  EXPECT_GT(payloads.size(), 3U);
  uint32_t profiles = 0;
  int64_t total = 0;
  for (const Payload& payload : payloads) {
    profiles += payload.profiles;
    const auto part = read_otlp(payload.bytes, {});
    ASSERT_TRUE(part.ok());
    EXPECT_EQ(part->profiles.size(), payload.profiles);
    total += vesta::test::total_of_type(*part, "cpu");
  }
  EXPECT_EQ(profiles, 20U);
  EXPECT_EQ(total, vesta::test::total_of_type(batch, "cpu"));
}

TEST(OtlpWriterKeys, AreUniqueWhereUnitsDiffer) {
  ProfileBatch batch = window_of(1);
  DictionaryBuilder builder(batch.dictionary);
  const Label labels[] = {builder.text_label("size", "large"),
                          builder.number_label("size", 5, "bytes"),
                          builder.number_label("size", 6, "kilobytes")};
  batch.profiles[0].samples.labels = {builder.label_set(labels), LabelSetId()};
  otlp_pb::ExportProfilesServiceRequest request;
  ASSERT_TRUE(request.ParseFromString(encode(*make_otlp_codec("1"), batch)[0].bytes));
  const auto& dictionary = request.dictionary();
  for (const auto& sample : request.resource_profiles(0).scope_profiles(0).profiles(0).samples()) {
    std::set<int> keys;
    for (const int index : sample.attribute_indices())
      EXPECT_TRUE(keys.insert(dictionary.attribute_table(index).key_strindex()).second);
  }
}

TEST(PushCodec, MakesASeriesOfEachProfile) {
  const ProfileBatch batch = window_of(3);
  const auto payloads = encode(*make_push_codec(), batch);
  ASSERT_EQ(payloads.size(), 1U);
  push::v1::PushRequest request;
  ASSERT_TRUE(request.ParseFromString(payloads[0].bytes));
  ASSERT_EQ(request.series_size(), 3);
  std::map<std::string, std::string> labels;
  for (const auto& label : request.series(1).labels()) labels[label.name()] = label.value();
  EXPECT_EQ(labels["__name__"], "process_cpu");
  EXPECT_EQ(labels["service_name"], "service-1");
  EXPECT_EQ(labels["host_name"], "node-1");
  EXPECT_EQ(labels["process_pid"], "1001");
  EXPECT_EQ(labels["k8s_pod_name"], "pod-a,b}");
  EXPECT_EQ(labels.count("service.name"), 0U);
  const std::string& raw = request.series(1).samples(0).raw_profile();
  ASSERT_EQ(detect_compression(raw), Compression::kGzip);
  const auto back = read_pprof(*gunzip(raw, 1 << 20), {});
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(vesta::test::total_of_type(*back, "cpu"), 3 * kPeriod);
  EXPECT_EQ(back->profiles[0].time_ns, test::kWindowTime);
  EXPECT_EQ(encode(*make_push_codec(1), batch).size(), 3U);
}

TEST(SingleCodec, NamesAreFitForTheirPlace) {
  ProfileBatch batch = window_of(1);
  const auto ingest = decode_single(encode(*make_pyroscope_ingest_codec(), batch)[0].bytes);
  ASSERT_TRUE(ingest.ok());
  EXPECT_EQ(ingest->name, "service-0{host_name=node-1,k8s_pod_name=pod-a_b_,process_pid=1000}");
  EXPECT_EQ(ingest->period_ns, kPeriod);
  const auto file = decode_single(encode(*make_file_codec(), batch)[0].bytes);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->name, "service-0_1000_20270115T080000.000Z_process_cpu.pb.gz");
  EXPECT_EQ(time_in_file_name(file->name), "20270115T080000.000Z");
  const auto back = read_pprof(*gunzip(file->pprof, 1 << 20), {});
  ASSERT_TRUE(back.ok());
  EXPECT_THAT(vesta::test::dump(*back), HasSubstr("service.name")) << "a file stands alone";
  DictionaryBuilder builder(batch.dictionary);
  const Label bad[] = {builder.text_label("service.name", "../../etc/passwd\n")};
  batch.profiles[0].resource = builder.label_set(bad);
  const auto hostile = decode_single(encode(*make_file_codec(), batch)[0].bytes);
  EXPECT_THAT(hostile->name, AllOf(Not(HasSubstr("/")), ::testing::StartsWith("_.")));
  EXPECT_FALSE(decode_single("garbage").ok());
}

std::map<std::string, std::string> json_fields(const std::string& text) {
  std::map<std::string, std::string> out;
  const auto tree = JsonTree::parse(text);
  if (!tree.ok()) return out;
  for (const auto& [name, value] : tree->root().fields().value_or({})) {
    const auto words = value.text();
    out[std::string(name)] = words.ok() ? std::string(*words) : simdjson::minify(value.element());
  }
  return out;
}

TEST(ProfileEvents, UnifiedShapeHasFramesLeafFirstKernelBeforeUser) {
  const ProfileBatch batch = window_of(2);
  const ProfileEvents events(batch.dictionary, batch.profiles[1]);
  EXPECT_FALSE(events.is_jfr());
  const ProfileEvent event = events.event(0);
  auto fields = json_fields(event.body);
  EXPECT_EQ(fields["timestamp"], "2027-01-15T08:00:00.000Z");
  EXPECT_EQ(fields["eventType"], "ebpf.CPUSample");
  EXPECT_EQ(fields["profileType"], "cpu");
  EXPECT_EQ(fields["profileSource"], "ebpf");
  EXPECT_EQ(fields["serviceName"], "service-1");
  EXPECT_EQ(fields["hostname"], "node-1");
  EXPECT_EQ(fields["threadName"], "worker");
  EXPECT_EQ(fields["threadId"], "77");
  EXPECT_EQ(fields["pid"], "1001");
  EXPECT_EQ(fields["sampleWeight"], "2");
  EXPECT_EQ(fields["durationNs"], std::to_string(2 * kPeriod));
  EXPECT_EQ(fields["totalSamples"], "3");
  EXPECT_EQ(fields["stackPath"], "do_syscall_64 <- work<int>(char const*) <- main");
  EXPECT_EQ(fields["stackDepth"], "3");
  EXPECT_EQ(fields["kernelFrames"], "1");
  EXPECT_EQ(fields["userFrames"], "2");
  EXPECT_EQ(fields["resolutionStatus"], "resolved");
  const std::string& frames = fields["stackTrace"];
  EXPECT_TRUE(frames.starts_with(R"([{"function":"do_syscall_64","depth":0,"isKernel":true},)"))
      << frames;
  EXPECT_THAT(frames,
              HasSubstr(R"("function":"main","file":"src/checkout.cc","line":12,"depth":2)"));
  EXPECT_TRUE(is_valid_utf8(events.event(1).body));
  EXPECT_EQ(event.body.find("cmdline"), std::string::npos);
}

ProfileBatch jfr_batch() {
  ProfileBatch batch;
  DictionaryBuilder builder(batch.dictionary);
  const LocationId stack[] = {
      builder.frame("com.example.Cart.add", "Cart.java", 42, FrameKind::kJvm),
      builder.frame("com.example.Main.main", "Main.java", 7, FrameKind::kJvm)};
  Profile profile;
  profile.name = builder.string("mutex");
  profile.sample_types = {{builder.string("contentions"), builder.string("count")},
                          {builder.string("delay"), builder.string("nanoseconds")}};
  profile.time_ns = test::kWindowTime;
  const Label labels[] = {builder.text_label("class", "com.example.Lock"),
                          builder.text_label("event", "JavaMonitorEnter"),
                          builder.text_label("thread", "main")};
  const int64_t values[] = {3, 5'000'000};
  profile.add_sample(builder.stack(stack), values, builder.label_set(labels));
  batch.profiles.push_back(std::move(profile));
  return batch;
}

TEST(ProfileEvents, JfrShapeHasClassesAndMethods) {
  const ProfileBatch batch = jfr_batch();
  const ProfileEvents events(batch.dictionary, batch.profiles[0]);
  EXPECT_TRUE(events.is_jfr());
  auto fields = json_fields(events.event(0).body);
  EXPECT_EQ(fields["eventType"], "jdk.JavaMonitorEnter");
  EXPECT_EQ(fields["profileType"], "lock");
  EXPECT_EQ(fields["topClass"], "com.example.Cart");
  EXPECT_EQ(fields["topMethod"], "add");
  EXPECT_EQ(fields["threadName"], "main");
  EXPECT_EQ(fields["sampleWeight"], "5000000");
  EXPECT_EQ(fields["durationNs"], "5000000");
  EXPECT_EQ(fields["selfTimeMs"], "5");
  EXPECT_EQ(fields["selfTimePercent"], "100");
  EXPECT_EQ(fields["monitorClass"], "com.example.Lock");
  EXPECT_EQ(fields["stackPath"], "add <- main");
  EXPECT_EQ(
      fields["stackTrace"],
      R"([{"class":"com.example.Cart","method":"add","line":42,"depth":0,"file":"Cart.java"},)"
      R"({"class":"com.example.Main","method":"main","line":7,"depth":1,"file":"Main.java"}])");
  EXPECT_EQ(fields.count("profileSource"), 0U);
}

// Texts of the attributes of a log record or resource, whatever their type.
std::map<std::string, std::string> attributes(std::string_view message, uint32_t field) {
  std::map<std::string, std::string> out;
  WireReader reader(message);
  while (reader.next()) {
    if (!reader.is(field, WireType::kBytes)) {
      reader.skip();
      continue;
    }
    WireReader pair = reader.message();
    std::string key;
    while (pair.next()) {
      if (pair.is(1, WireType::kBytes)) {
        key = pair.bytes();
      } else {
        WireReader value = pair.message();
        value.next();
        if (value.type() == WireType::kBytes) {
          out[key] = value.bytes();
        } else {
          out[key] = value.type() == WireType::kVarint ? std::to_string(value.int64()) : "real";
        }
      }
    }
  }
  return out;
}
std::vector<std::string_view> inner(std::string_view message, uint32_t field) {
  std::vector<std::string_view> out;
  WireReader reader(message);
  while (reader.next()) {
    if (reader.is(field, WireType::kBytes)) {
      out.push_back(reader.bytes());
    } else {
      reader.skip();
    }
  }
  EXPECT_TRUE(reader.ok());
  return out;
}

TEST(OtlpLogsCodec, HasARecordForEverySampleOfEveryProfile) {
  const auto payloads = encode(*make_otlp_logs_codec("1.2.3"), window_of(3));
  ASSERT_EQ(payloads.size(), 1U);
  EXPECT_EQ(payloads[0].profiles, 3U);
  const auto resources = inner(payloads[0].bytes, 1);
  ASSERT_EQ(resources.size(), 3U);
  auto resource = attributes(inner(resources[0], 1)[0], 1);
  EXPECT_EQ(resource["service.name"], "service-0");
  EXPECT_EQ(resource["telemetry.sdk.name"], "vesta");
  EXPECT_EQ(resource["telemetry.sdk.language"], "native");
  const auto scope_logs = inner(resources[0], 2);
  ASSERT_EQ(scope_logs.size(), 1U);
  const auto records = inner(scope_logs[0], 2);
  ASSERT_EQ(records.size(), 2U);
  auto record = attributes(records[0], 6);
  EXPECT_EQ(record["profile.type"], "cpu");
  EXPECT_EQ(record["profile.event_type"], "ebpf.CPUSample");
  EXPECT_EQ(record["profile.sample_weight"], "1");
  EXPECT_EQ(record["code.function"], "do_syscall_64");
  EXPECT_EQ(record["process.pid"], "1000");
  EXPECT_EQ(record["thread.tid"], "77");
  EXPECT_EQ(record["vesta.collector.type"], "ebpf");
  auto jfr = attributes(
      inner(inner(inner(encode(*make_otlp_logs_codec("1"), jfr_batch())[0].bytes, 1)[0], 2)[0],
            2)[0],
      6);
  EXPECT_EQ(jfr["event.name"], "jdk.JavaMonitorEnter");
  EXPECT_EQ(jfr["event.domain"], "jfr");
  EXPECT_EQ(jfr["code.namespace"], "com.example.Cart");
  EXPECT_EQ(jfr["profile.sample.weight"], "5000000");
  EXPECT_EQ(jfr["profile.self_time_ms"], "real");
}

}  // namespace
}  // namespace vesta::agent
