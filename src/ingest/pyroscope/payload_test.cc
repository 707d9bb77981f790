#include "ingest/pyroscope/payload.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/common/compression.h"
#include "formats/jfr/test_recording.h"
#include "formats/pprof/writer.h"
#include "formats/protobuf/wire.h"
#include "ingest/profile_types.h"
#include "ingest/pyroscope/jfr_labels.h"
#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"

namespace vesta::pyroscope {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

Payload payload(PayloadFormat format, std::string_view app, std::string_view profile) {
  Payload out;
  out.format = format;
  out.name.app = app;
  out.profile = profile;
  out.from_ns = 1'700'000'000'000'000'000;
  out.until_ns = 1'700'000'010'000'000'000;
  return out;
}

std::string type_id(const ProfileBatch& batch, size_t profile = 0, size_t type = 0) {
  const Dictionary& d = batch.dictionary;
  const Profile& p = batch.profiles.at(profile);
  return fmt::format("{}:{}:{}:{}:{}", d.string(p.name), d.string(p.sample_types[type].type),
                     d.string(p.sample_types[type].unit), d.string(p.period_type.type),
                     d.string(p.period_type.unit));
}

TEST(Payload, SuffixOfTheNameIsTheTypeOfStacks) {
  const std::vector<std::tuple<const char*, const char*, int64_t>> cases = {
      {"app", "process_cpu:cpu:nanoseconds:cpu:nanoseconds", 50'000'000},
      {"app.cpu", "process_cpu:cpu:nanoseconds:cpu:nanoseconds", 50'000'000},
      {"app.wall", "wall:wall:nanoseconds:cpu:nanoseconds", 50'000'000},
      {"my.app.inuse_space", "memory:inuse_space:bytes::", 5},
      {"app.alloc_objects", "memory:alloc_objects:count::", 5},
      {"app.goroutines", "goroutine:goroutines:count::", 5},
      {"app.mutex_count", "mutex:contentions:count::", 5},
      {"app.lock_duration", "block:delay:nanoseconds::", 5},
      {"app.exceptions", "exceptions:samples:count::", 5},
      {"app.bytes", "memory:samples:bytes::", 5},
  };
  for (const auto& [app, type, total] : cases) {
    const auto read = read_payload(payload(PayloadFormat::kGroups, app, "a;b 2\na;c 3\n"), {});
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(type_id(read->batch), type);
    EXPECT_EQ(total_of(read->batch.profiles[0], 0), total) << app;
    EXPECT_EQ(read->batch.profiles[0].duration_ns, 10'000'000'000);
    EXPECT_EQ(read->hints.service, split_suffix(app).first);
    EXPECT_EQ(read->hints.time_ns, 1'700'000'000'000'000'000);
  }
}

TEST(Payload, UnknownSuffixIsAnErrorThatListsTheKnownOnes) {
  const auto read = read_payload(payload(PayloadFormat::kGroups, "my.app", "a;b 2\n"), {});
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::kUsage);
  EXPECT_THAT(read.error().message, HasSubstr("'app' after the last dot"));
  EXPECT_THAT(read.error().hint, HasSubstr("alloc_space"));
}

TEST(Payload, SampleRateIsWhatACountIsWorth) {
  Payload given = payload(PayloadFormat::kLines, "app.cpu", "a\nb\n");
  given.sample_rate = 1000;
  auto read = read_payload(given, {});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(total_of(read->batch.profiles[0], 0), 2'000'000);
  EXPECT_EQ(read->batch.profiles[0].period, 1'000'000);
  given.sample_rate = 0;
  read = read_payload(given, {});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(type_id(read->batch), "process_cpu:samples:count::");
  EXPECT_EQ(total_of(read->batch.profiles[0], 0), 2);
}

TEST(Payload, LongLinesOfGroupsAreNotLost) {
  const std::string line = std::string(100'000, 'x') + " 5\nlast 7\n";
  const auto read = read_payload(payload(PayloadFormat::kGroups, "app.bytes", line), {});
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(total_of(read->batch.profiles[0], 0), 12);
}

std::string pprof_of(std::string_view type, std::string_view unit) {
  return gzip(write_pprof(test::batch_from({{"main;work@a.rb:3", 7}}, type, unit)));
}

TEST(Payload, FamilyOfAPprofIsGuessedFromItsTypes) {
  const std::vector<std::tuple<const char*, const char*, const char*>> cases = {
      {"cpu", "nanoseconds", "process_cpu"}, {"samples", "count", "process_cpu"},
      {"wall", "nanoseconds", "wall"},       {"inuse_space", "bytes", "memory"},
      {"objects", "count", "memory"},        {"contentions", "count", "mutex"},
      {"goroutine", "count", "goroutines"},  {"threads", "count", "threads"}};
  for (const auto& [type, unit, family] : cases) {
    const std::string bytes = pprof_of(type, unit);
    const auto read = read_payload(payload(PayloadFormat::kPprof, "my.app", bytes), {});
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->hints.name, family);
    EXPECT_EQ(read->hints.service, "my.app");
    EXPECT_TRUE(read->hints.distrust_1970);
    EXPECT_THAT(read->hints.labels, ElementsAre(Pair("pyroscope_spy", "unknown")));
  }
}

TEST(Payload, SampleTypeConfigSaysWhatTypesAreCalled) {
  const std::string bytes = pprof_of("contentions", "count");
  Payload given = payload(PayloadFormat::kPprof, "app", bytes);
  given.sample_type_config =
      R"({"contentions": {"units": "lock_samples", "display-name": "block_count", "cumulative": false}})";
  const auto read = read_payload(given, {});
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->hints.name, "block");
  for (const char* bad : {"", "{", "[]", R"({"a": 1})", "{\"a\": {", "\xff"}) {
    given.sample_type_config = bad;
    EXPECT_FALSE(read_payload(given, {}).ok()) << bad;
  }
}

TEST(Payload, OldProfilersOfScriptsHaveTheFileInTheName) {
  const std::string bytes = pprof_of("samples", "count");
  Payload given = payload(PayloadFormat::kPprof, "app", bytes);
  given.spy = "rbspy";
  const auto read = read_payload(given, {});
  ASSERT_TRUE(read.ok());
  EXPECT_THAT(test::rows(read->batch), ElementsAre("main;a.rb work 7"));
}

TEST(Payload, DotnetTypesHaveNoDashes) {
  const std::string bytes = pprof_of("inuse-space", "bytes");
  Payload given = payload(PayloadFormat::kPprof, "app", bytes);
  given.spy = "dotnetspy";
  const auto read = read_payload(given, {});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(type_id(read->batch), ":inuse_space:bytes::");
  EXPECT_EQ(read->hints.name, "memory");
}

constexpr std::string_view kSpeedscope = R"({"$schema":
"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"a"},{"name":"b"}]},
"profiles":[{"type":"evented","name":"one","unit":"milliseconds","startValue":0,"endValue":3,"events":[
{"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":0.5},{"type":"C","frame":1,"at":2},
{"type":"C","frame":0,"at":3}]})";

TEST(Payload, SpeedscopeTimesAreExact) {
  const std::string one = std::string(kSpeedscope) + "]}";
  auto read = read_payload(payload(PayloadFormat::kSpeedscope, "app", one), {});
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(type_id(read->batch), "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
  EXPECT_THAT(test::rows(read->batch), ElementsAre("a 1500000", "a;b 1500000"));

  const std::string two = std::string(kSpeedscope) +
                          R"(,{"type":"sampled","name":"two","unit":"bytes","startValue":0,
                              "endValue":3,"samples":[[1]],"weights":[7]}]})";
  read = read_payload(payload(PayloadFormat::kSpeedscope, "app", two), {});
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->batch.profiles.size(), 2u);
  EXPECT_EQ(type_id(read->batch, 0), "wall:wall:nanoseconds:cpu:nanoseconds");
  EXPECT_EQ(type_id(read->batch, 1), "memory:samples:bytes::");
}

TEST(Payload, SpeedscopeFrameBeyondTheLastIsAnError) {
  std::string bad(kSpeedscope);
  bad.replace(bad.find("\"frame\":1"), 9, "\"frame\":2");
  EXPECT_FALSE(read_payload(payload(PayloadFormat::kSpeedscope, "app", bad + "]}"), {}).ok());
}

// map<int64, ...> entries of a LabelsSnapshot.
std::string labels_message() {
  const auto entry = [](int64_t key, std::string_view value) {
    WireWriter out;
    out.int64(1, key);
    out.always_bytes(2, value);
    return out.take();
  };
  WireWriter label;
  label.int64(1, 10);
  label.int64(2, 11);
  WireWriter context;
  context.message(1, label);
  WireWriter out;
  out.always_bytes(1, entry(77, context.view()));
  out.always_bytes(2, entry(10, "route"));
  out.always_bytes(2, entry(11, "/cart"));
  out.always_bytes(2, entry(12, "GET /cart"));
  return out.take();
}

ProfileBatch batch_with_context(int64_t context, int64_t span_name) {
  ProfileBatch batch = test::batch_from({{"a", 7}});
  DictionaryBuilder builder(batch.dictionary);
  const std::vector<Label> labels = {builder.number_label("context_id", context),
                                     builder.number_label("span_name_id", span_name),
                                     builder.text_label("thread", "main")};
  batch.profiles[0].samples.labels = {builder.label_set(labels)};
  return batch;
}

std::map<std::string, std::string> labels_of(const ProfileBatch& batch) {
  std::map<std::string, std::string> labels;
  const Dictionary& d = batch.dictionary;
  for (const Label& label : d.label_sets[batch.profiles[0].samples.label_set(0)])
    labels[std::string(d.string(label.key))] = d.string(label.text);
  return labels;
}

TEST(JfrLabels, ContextsBecomeLabels) {
  ProfileBatch batch = batch_with_context(77, 12);
  ASSERT_TRUE(apply_jfr_labels(batch, labels_message()).ok());
  EXPECT_THAT(labels_of(batch), ElementsAre(Pair("route", "/cart"), Pair("span_name", "GET /cart"),
                                            Pair("thread", "main")));
  EXPECT_EQ(find_inconsistency(batch), "");
}

TEST(JfrLabels, UnknownNumbersAreLeftOut) {
  ProfileBatch batch = batch_with_context(78, 99);
  ASSERT_TRUE(apply_jfr_labels(batch, labels_message()).ok());
  EXPECT_THAT(labels_of(batch), ElementsAre(Pair("thread", "main")));
}

TEST(JfrLabels, DamagedMessagesAreRefused) {
  const std::string message = labels_message();
  size_t refused = 0;
  for (size_t size = 1; size < message.size(); ++size) {
    ProfileBatch batch = batch_with_context(77, 12);
    refused += apply_jfr_labels(batch, message.substr(0, size)).ok() ? 0 : 1;
    EXPECT_EQ(find_inconsistency(batch), "");
  }
  EXPECT_GT(refused, message.size() / 2);
}

TEST(Payload, RecordingsHaveThePyroscopeTypes) {
  jfr::TestChunk chunk;
  const int64_t thread = chunk.thread("worker-1");
  const int64_t stack = chunk.stack({{chunk.method("com/example/Main", "work"), 42}});
  chunk.setting("jdk.ActiveRecording", "event", "itimer");
  chunk.setting("jdk.ExecutionSample", "interval", "10000000");
  chunk.execution_sample(2000, thread, stack, chunk.state("STATE_RUNNABLE"));
  const std::string bytes = gzip(chunk.finish());
  const auto read = read_payload(payload(PayloadFormat::kJfr, "my.app", bytes), {});
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->batch.profiles.size(), 1u);
  ASSERT_EQ(read->batch.profiles[0].sample_types.size(), 1u);
  EXPECT_EQ(type_id(read->batch), "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
  EXPECT_EQ(total_of(read->batch.profiles[0], 0), 10'000'000);
  EXPECT_THAT(read->hints.labels, Contains(Pair("app_name", "my.app")));
  EXPECT_EQ(find_inconsistency(read->batch), "");
}

TEST(Payload, RecordingsHaveThePyroscopeNames) {
  jfr::TestChunk chunk;
  const int64_t thread = chunk.thread("worker-1");
  const int64_t stack = chunk.stack(
      {{chunk.method("libzstd-jni-1.5.1-16931311898282279136.so", "decompress", "()L;"), 0},
       {chunk.method("shop/Cart$$Lambda$669.0x0000000800fd7318", "run"), 0},
       {chunk.method("java/lang/Thread", "run"), 42}});
  chunk.setting("jdk.ActiveRecording", "event", "itimer");
  chunk.execution_sample(2000, thread, stack, chunk.state("STATE_RUNNABLE"));
  const std::string bytes = chunk.finish();
  Payload recording = payload(PayloadFormat::kJfr, "my.app", bytes);
  auto read = read_payload(recording, {});
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_THAT(test::rows(read->batch),
              ElementsAre(HasSubstr(
                  "java/lang/Thread.run;shop/Cart$$Lambda_.run;libzstd-jni-_.so.decomp")));
  recording.java_names = JavaNames::kDots;
  read = read_payload(recording, {});
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_THAT(test::rows(read->batch),
              ElementsAre(HasSubstr("java.lang.Thread.run;shop.Cart$$Lambda.run;")));
}

}  // namespace
}  // namespace vesta::pyroscope
