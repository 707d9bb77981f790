#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "formats/common/losses.h"
#include "formats/otlp/conventions.h"
#include "formats/otlp/reader.h"
#include "formats/otlp/test_message.h"
#include "formats/otlp/writer.h"
#include "profile/dictionary_builder.h"

namespace vesta {
namespace {

using otlp::TestMessage;
using testing::ElementsAre;
using testing::HasSubstr;

ProfileBatch must_read(const std::string& bytes, const ReadOptions& options = {}) {
  auto batch = read_otlp(bytes, options);
  EXPECT_TRUE(batch.ok()) << (batch.ok() ? "" : batch.error().message);
  if (!batch) return {};
  EXPECT_EQ(find_inconsistency(*batch), "");
  return std::move(*batch);
}

std::string error_of(const std::string& bytes, const ReadOptions& options = {}) {
  const auto batch = read_otlp(bytes, options);
  EXPECT_FALSE(batch.ok());
  return batch.ok() ? "" : batch.error().message;
}

// Every row as text: "a;b;c {key=value} trace @time = values".
std::map<std::string, std::vector<int64_t>> rows_of(const ProfileBatch& batch,
                                                    const Profile& profile) {
  const Dictionary& d = batch.dictionary;
  std::map<std::string, std::vector<int64_t>> rows;
  for (size_t row = 0; row < profile.samples.size(); ++row) {
    std::string text;
    const auto stack = d.stacks[profile.samples.stacks[row]];
    for (size_t i = stack.size(); i-- > 0;) {
      for (const Line& line : d.lines[stack[i]]) {
        if (!text.empty()) text += ';';
        text += d.string(d.function(line.function).name);
      }
    }
    std::vector<std::string> labels;
    for (const Label& label : d.label_sets[profile.samples.label_set(row)]) {
      labels.push_back(std::string(d.string(label.key)) + "=" +
                       (label.kind == LabelKind::kNumber
                            ? std::to_string(label.number) + std::string(d.string(label.unit))
                            : std::string(d.string(label.text))));
    }
    std::ranges::sort(labels);
    for (const std::string& label : labels) text += " " + label;
    if (profile.samples.link(row)) text += " linked";
    if (profile.samples.time_ns(row)) text += " @" + std::to_string(profile.samples.time_ns(row));
    const auto values = profile.values(row);
    auto& sums = rows[text];
    sums.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
  }
  return rows;
}

using Rows = std::map<std::string, std::vector<int64_t>>;

std::string label_text(const ProfileBatch& batch, LabelSetId set, std::string_view key) {
  for (const Label& label : batch.dictionary.label_sets[set]) {
    if (batch.dictionary.string(label.key) != key) continue;
    return label.kind == LabelKind::kNumber ? std::to_string(label.number)
                                            : std::string(batch.dictionary.string(label.text));
  }
  return "(none)";
}

TestMessage usual_message() {
  TestMessage m;
  m.samples = {{1, {5}, {3, 4}, 1, {}}, {2, {7}, {}, 0, {}}};
  return m;
}

TEST(OtlpReader, ReadsSamplesLabelsAndLinks) {
  const ProfileBatch batch = must_read(usual_message().encode());
  ASSERT_EQ(batch.profiles.size(), 1u);
  const Profile& p = batch.profiles[0];
  EXPECT_EQ(rows_of(batch, p),
            (Rows{{"a;b;c thread.id=7 thread.name=main linked", {5}}, {"a;b", {7}}}));
  EXPECT_EQ(batch.dictionary.string(p.sample_types[0].type), "samples");
  EXPECT_EQ(batch.dictionary.string(p.sample_types[0].unit), "count");
  EXPECT_EQ(batch.dictionary.string(p.period_type.type), "cpu");
  EXPECT_EQ(p.period, 50'000'000);
  EXPECT_EQ(p.time_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(p.duration_ns, 5'000'000'000);
  EXPECT_EQ(batch.dictionary.string(batch.dictionary.mappings[1].build_id), "abcdef");
  EXPECT_EQ(batch.dictionary.locations[1].kind, FrameKind::kNative);
  EXPECT_EQ(batch.dictionary.links[1].trace_id[15], 1);
}

TEST(OtlpReader, TimestampsCountOneEachAndAreKeptOnRequest) {
  TestMessage m;
  m.samples = {{1, {}, {3, 4}, 1, {100, 200, 300}}};
  ProfileBatch batch = must_read(m.encode());
  EXPECT_EQ(rows_of(batch, batch.profiles[0]),
            (Rows{{"a;b;c thread.id=7 thread.name=main linked", {3}}}));
  ReadOptions options;
  options.keep_timestamps = true;
  batch = must_read(m.encode(), options);
  EXPECT_EQ(batch.profiles[0].samples.size(), 3u);
  EXPECT_THAT(batch.profiles[0].samples.times_ns, ElementsAre(100, 200, 300));
  EXPECT_THAT(batch.profiles[0].samples.values, ElementsAre(1, 1, 1));

  m.samples = {{1, {10, 20}, {3}, 1, {100, 200}}};
  batch = must_read(m.encode(), options);
  EXPECT_THAT(batch.profiles[0].samples.values, ElementsAre(10, 20));
  batch = must_read(m.encode());
  EXPECT_THAT(batch.profiles[0].samples.values, ElementsAre(30));
}

TEST(OtlpReader, ResourceAndScopeBecomeLabels) {
  TestMessage m = usual_message();
  WireWriter resource;
  resource.always_bytes(1, TestMessage::key_value("service.name", TestMessage::text("shop")));
  resource.always_bytes(1, TestMessage::key_value("process.pid", TestMessage::number(42)));
  WireWriter by_index;
  by_index.uint64(3, 12);                // key_strindex: thread.name
  by_index.always_bytes(2, "\x40\x09");  // string_value_strindex: /bin/app
  resource.message(1, by_index);
  WireWriter yes;
  yes.always_uint64(2, 1);
  resource.always_bytes(1, TestMessage::key_value("flag", yes.view()));
  m.resource = resource.take();
  WireWriter scope;
  scope.bytes(1, "agent");
  scope.bytes(2, "1.2");
  scope.always_bytes(3, TestMessage::key_value("x", TestMessage::text("y")));
  m.scope = scope.take();
  const ProfileBatch batch = must_read(m.encode());
  const LabelSetId set = batch.profiles[0].resource;
  EXPECT_EQ(label_text(batch, set, "service.name"), "shop");
  EXPECT_EQ(label_text(batch, set, "process.pid"), "42");
  EXPECT_EQ(label_text(batch, set, "thread.name"), "/bin/app");
  EXPECT_EQ(label_text(batch, set, "flag"), "true");
  EXPECT_EQ(label_text(batch, set, "otel.scope.name"), "agent");
  EXPECT_EQ(label_text(batch, set, "otel.scope.version"), "1.2");
  EXPECT_EQ(label_text(batch, set, "otel.scope.attribute.x"), "y");
  // And back again.
  EXPECT_EQ(write_otlp(must_read(write_otlp(batch))), write_otlp(batch));
  const ProfileBatch again = must_read(write_otlp(batch));
  EXPECT_EQ(label_text(again, again.profiles[0].resource, "otel.scope.attribute.x"), "y");
  EXPECT_EQ(label_text(again, again.profiles[0].resource, "otel.scope.name"), "agent");
}

TEST(OtlpReader, OddValuesBecomeJsonText) {
  TestMessage m;
  WireWriter real;
  real.always_fixed64(4, std::bit_cast<uint64_t>(1.5));
  WireWriter blob;
  blob.always_bytes(7, "\x01\x02");
  WireWriter items;
  items.always_bytes(1, TestMessage::text("x"));
  items.always_bytes(1, real.view());
  WireWriter array;
  array.message(5, items);
  WireWriter pairs;
  pairs.always_bytes(1, TestMessage::key_value("k", array.view()));
  WireWriter list;
  list.message(6, pairs);
  m.with_sample_attributes = false;
  m.more_attributes = {TestMessage::attribute(12, real.view()),
                       TestMessage::attribute(13, blob.view()),
                       TestMessage::attribute(5, list.view())};
  m.samples = {{1, {1}, {3, 4, 5}, 1, {}}};
  const ProfileBatch batch = must_read(m.encode());
  const LabelSetId set = batch.profiles[0].samples.label_set(0);
  EXPECT_EQ(label_text(batch, set, "thread.name"), "1.5");
  EXPECT_EQ(label_text(batch, set, "thread.id"), "AQI=");
  EXPECT_EQ(label_text(batch, set, "a"), R"({"k":["x",1.5]})");
}

TEST(OtlpReader, ValuesThatNestTooDeepAreRefused) {
  TestMessage m = usual_message();
  std::string value = TestMessage::text("x");
  for (int i = 0; i < 10'000; ++i) {
    WireWriter array;
    array.always_bytes(1, value);
    WireWriter outer;
    outer.message(5, array);
    value = outer.take();
  }
  m.more_attributes = {TestMessage::attribute(5, value)};
  EXPECT_THAT(error_of(m.encode()), HasSubstr("nest deeper"));
}

TEST(OtlpReader, UnknownFrameTypesAreNoError) {
  TestMessage m = usual_message();
  m.with_table_attributes = false;
  WireWriter location;
  const std::vector<int64_t> kind{3};
  location.uint64(2, 0x77);
  location.packed(4, kind);
  WireWriter entry;
  entry.message(2, location);
  m.dictionary_fields = entry.take();
  m.more_attributes = {TestMessage::attribute(11, TestMessage::text("cobol"))};
  m.samples = {{1, {5}, {1, 2}, 1, {}}};
  const ProfileBatch batch = must_read(m.encode());
  EXPECT_EQ(batch.dictionary.locations[4].kind, FrameKind::kUnknown);
}

TEST(OtlpReader, RefusesIndicesOutOfRange) {
  TestMessage m = usual_message();
  m.samples[0].stack = 99;
  EXPECT_THAT(
      error_of(m.encode()),
      testing::AllOf(HasSubstr("byte "),
                     HasSubstr("resource_profiles[0].scope_profiles[0].profiles[0].samples[0]."
                               "stack_index: 99 is outside stack_table, which has 3 entries")));
  m = usual_message();
  m.samples[0].link = 2;
  EXPECT_THAT(error_of(m.encode()), HasSubstr("link_index: 2 is outside link_table"));
  m = usual_message();
  m.samples[0].attributes = {-1};
  EXPECT_THAT(error_of(m.encode()), HasSubstr("attribute_indices: -1 is outside"));
  m = usual_message();
  m.profile_attributes = {50};
  EXPECT_THAT(error_of(m.encode()), HasSubstr("profiles[0].attribute_indices: 50"));
  // One bad entry per table.
  const auto with_entry = [](uint32_t table, const WireWriter& entry) {
    TestMessage bad = usual_message();
    WireWriter field;
    field.message(table, entry);
    bad.dictionary_fields = field.take();
    return bad.encode();
  };
  WireWriter w;
  w.uint64(4, 1000);
  EXPECT_THAT(error_of(with_entry(1, w)),
              HasSubstr("dictionary.mapping_table[2].filename_strindex: 1000"));
  w.clear();
  w.uint64(1, 2);
  EXPECT_THAT(error_of(with_entry(2, w)),
              HasSubstr("dictionary.location_table[4].mapping_index: 2"));
  w.clear();
  w.always_bytes(3, "\x08\x09");
  EXPECT_THAT(error_of(with_entry(2, w)),
              HasSubstr("location_table[4].lines[0].function_index: 9"));
  w.clear();
  w.uint64(2, 77);
  EXPECT_THAT(error_of(with_entry(3, w)), HasSubstr("function_table[4].system_name_strindex: 77"));
  w.clear();
  w.uint64(1, 77);
  EXPECT_THAT(error_of(with_entry(6, w)), HasSubstr("attribute_table[5].key_strindex: 77"));
  w.clear();
  w.always_bytes(1, "\x07");
  EXPECT_THAT(error_of(with_entry(7, w)), HasSubstr("stack_table[3].location_indices: 7"));
  w.clear();
  w.always_bytes(1, "short");
  EXPECT_THAT(error_of(with_entry(4, w)),
              HasSubstr("link_table[2].trace_id: 5 bytes instead of 16"));
}

// Pyroscope's canary has its first function's location at 0, others have it so in every table.
TEST(OtlpReader, AnEntryZeroWithContentIsWhatIndexZeroMeans) {
  const auto message = [](uint64_t location, const std::vector<std::string>& strings) {
    const auto as_is = [](int64_t value) { return value; };
    WireWriter dictionary;
    WireWriter mapping;
    mapping.uint64(1, 0x1000);
    mapping.uint64(2, 0x9000);
    dictionary.message(1, mapping);
    for (uint32_t i = 0; i < 2; ++i) {
      WireWriter line;
      line.uint64(1, i);
      WireWriter entry;
      entry.always_bytes(3, line.view());
      dictionary.message(2, entry);
    }
    for (uint32_t i = 0; i < 2; ++i) {
      WireWriter function;
      function.uint64(1, i);
      dictionary.always_bytes(3, function.view());
    }
    for (const std::string& text : strings) dictionary.always_bytes(5, text);
    dictionary.always_bytes(6, TestMessage::attribute(0, TestMessage::text("v")));
    WireWriter stack;
    stack.packed(1, std::vector<int64_t>{static_cast<int64_t>(location), 0}, as_is);
    dictionary.message(7, stack);
    WireWriter type;
    type.uint64(2, 1);
    WireWriter sample;  // of stack 0
    sample.packed(2, std::vector<int64_t>{0}, as_is);
    sample.packed(4, std::vector<int64_t>{5}, as_is);
    WireWriter profile;
    profile.message(1, type);
    profile.message(2, sample);
    profile.fixed64(3, 1'700'000'000'000'000'000);
    WireWriter scopes;
    scopes.message(2, profile);
    WireWriter resources;
    resources.message(2, scopes);
    WireWriter out;
    out.message(1, resources);
    out.message(2, dictionary);
    return out.take();
  };
  ReadOptions options;
  options.otlp_layout = OtlpLayout::kV1_10;
  const ProfileBatch batch = must_read(message(1, {"zero", "one"}), options);
  ASSERT_EQ(batch.profiles.size(), 1u);
  const Profile& profile = batch.profiles[0];
  EXPECT_EQ(rows_of(batch, profile), (Rows{{"zero;one zero=v", {5}}}));
  EXPECT_EQ(batch.dictionary.string(profile.sample_types[0].type), "zero");
  EXPECT_EQ(batch.dictionary.string(profile.sample_types[0].unit), "one");
  const LocationId frame = batch.dictionary.stacks[profile.samples.stacks[0]].front();
  EXPECT_EQ(batch.dictionary.location(frame).address, 0u);
  EXPECT_EQ(batch.dictionary.mapping(batch.dictionary.location(frame).mapping).start, 0x1000u);
  EXPECT_THAT(error_of(message(2, {"zero", "one"}), options), HasSubstr("location_indices: 2"));
}

TEST(OtlpReader, RefusesIllegalShapes) {
  TestMessage m = usual_message();
  m.samples.push_back({1, {}, {}, 0, {}});
  EXPECT_THAT(error_of(m.encode()), HasSubstr("neither values nor timestamps"));
  m = usual_message();
  m.samples.push_back({1, {1, 2}, {}, 0, {5}});
  EXPECT_THAT(error_of(m.encode()), HasSubstr("2 values with 1 timestamps"));
  m = usual_message();
  m.samples.push_back({1, {1, 2}, {}, 0, {}});
  EXPECT_THAT(error_of(m.encode()), HasSubstr("2 values with 0 timestamps"));
  m = usual_message();
  WireWriter id;
  id.always_bytes(7, "123");
  m.profile_fields = id.take();
  ReadOptions options;
  options.otlp_layout = OtlpLayout::kV1_10;
  EXPECT_THAT(error_of(m.encode(), options), HasSubstr("profile_id: 3 bytes instead of 16"));
  m = usual_message();
  m.samples[0].values = {-5};
  m.time = UINT64_MAX;
  EXPECT_THAT(error_of(m.encode()), HasSubstr("time_unix_nano"));
}

TEST(OtlpReader, KeepsNegativeValuesAndSaysSo) {
  TestMessage m = usual_message();
  m.samples[0].values = {-5};
  const ProfileBatch batch = must_read(m.encode());
  EXPECT_EQ(total_of(batch.profiles[0], 0), 2);
  const auto noted = [](const ProfileBatch& of) {
    for (const Loss& loss : of.profiles[0].losses)
      if (of.dictionary.string(loss.reason) == kLossNegative) return loss.count;
    return uint64_t{0};
  };
  EXPECT_EQ(noted(batch), 1u);
  EXPECT_EQ(noted(must_read(write_otlp(batch))), 1u);  // once, however often it is written
  ReadOptions options;
  options.allow_negative = true;
  EXPECT_EQ(noted(must_read(m.encode(), options)), 0u);
}

TEST(OtlpReader, RefusesConcatenatedMessages) {
  const std::string one = usual_message().encode();
  EXPECT_THAT(error_of(one + one), HasSubstr("a second dictionary"));
}

TEST(OtlpReader, RefusesWhatIsCutOffAnywhere) {
  const std::string whole = usual_message().encode();
  // The profiles and the dictionary are two fields, so cutting exactly between them leaves a legal
  // message whose indices point nowhere.
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto batch = read_otlp(whole.substr(0, size), {});
    EXPECT_FALSE(batch.ok()) << size;
    looks_like_otlp(whole.substr(0, size));
  }
}

TEST(OtlpReader, RefusesNonsense) {
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
  EXPECT_FALSE(read_otlp("this is no profile at all", {}).ok());
  EXPECT_THAT(error_of(std::string("\x0a\xff\xff\xff\xff\x07", 6)), HasSubstr("runs past the end"));
  EXPECT_THAT(error_of(std::string("\x12\x80\x80\x80\x80\x08zzz", 9)),
              HasSubstr("runs past the end"));
}

TEST(OtlpReader, RepairsTextAndCutsWhatIsTooLong) {
  TestMessage m = usual_message();
  m.strings[5] = "a\xff";
  m.strings[6] = std::string(100, 'b') + "\xc3\xa9";
  ReadOptions options;
  options.max_string_bytes = 101;
  options.max_stack_depth = 2;
  const ProfileBatch batch = must_read(m.encode(), options);
  const Dictionary& d = batch.dictionary;
  EXPECT_EQ(d.string(d.functions[1].name), "a\xef\xbf\xbd");
  EXPECT_EQ(d.string(d.functions[2].name), std::string(100, 'b'));
  EXPECT_EQ(d.stacks[StackId(1)].size(), 2u);
  EXPECT_EQ(d.stacks[StackId(1)][0], LocationId(3));
  std::map<std::string, uint64_t> losses;
  for (const Loss& loss : batch.profiles[0].losses)
    losses[std::string(d.string(loss.reason))] = loss.count;
  EXPECT_EQ(losses, (std::map<std::string, uint64_t>{
                        {kLossInvalidUtf8, 1}, {kLossNameTruncated, 1}, {kLossStackTruncated, 1}}));
}

TEST(OtlpReader, HonoursLimits) {
  ReadOptions options;
  options.max_samples = 1;
  EXPECT_THAT(error_of(usual_message().encode(), options), HasSubstr("number of samples"));
  options = {};
  options.max_labels_per_sample = 1;
  EXPECT_THAT(error_of(usual_message().encode(), options), HasSubstr("attributes of one sample"));
  options = {};
  options.max_decoded_bytes = 10;
  EXPECT_EQ(read_otlp(usual_message().encode(), options).error().code, ErrorCode::kLimit);
}

TEST(OtlpReader, KnowsItsOwnKind) {
  EXPECT_TRUE(looks_like_otlp(usual_message().encode()));
  EXPECT_FALSE(looks_like_otlp(""));
  EXPECT_FALSE(looks_like_otlp("main;f 3\n"));
  EXPECT_FALSE(looks_like_otlp("{\"resourceProfiles\":[]}"));
  // pprof: ValueType, Sample, Location, Function, strings.
  WireWriter pprof;
  pprof.always_bytes(1, "\x08\x01\x10\x02");
  pprof.always_bytes(2, "\x0a\x01\x01\x12\x01\x05");
  EXPECT_FALSE(looks_like_otlp(pprof.view()));
  pprof.always_bytes(4, "\x08\x01");
  pprof.always_bytes(6, "");
  pprof.always_bytes(6, "cpu");
  EXPECT_FALSE(looks_like_otlp(pprof.view()));
  EXPECT_FALSE(looks_like_otlp(std::string("\x0a\x00\x12\x00", 4)));
  // OTLP traces have the same outer shape and no dictionary.
  WireWriter span;
  span.always_bytes(1, std::string(16, '\1'));
  span.always_bytes(2, std::string(8, '\1'));
  WireWriter scope;
  scope.message(2, span);
  WireWriter resource;
  resource.message(2, scope);
  WireWriter traces;
  traces.message(1, resource);
  EXPECT_FALSE(looks_like_otlp(traces.view()));
}

// A heap profile with all that pprof can say.
ProfileBatch pprof_like() {
  ProfileBatch batch;
  DictionaryBuilder build(batch.dictionary);
  Mapping mapping;
  mapping.start = 0x400000;
  mapping.limit = 0x500000;
  mapping.file = build.string("/bin/shop");
  mapping.build_id = build.string("0123abcd");
  mapping.has_functions = mapping.has_inline_frames = true;
  const MappingId mapping_id = build.mapping(mapping);
  Location place;
  place.address = 0x400123;
  place.mapping = mapping_id;
  place.is_folded = true;
  place.kind = FrameKind::kGo;
  const std::vector<Line> lines{{build.function("inlined", "x.go", 3), 7, 12},
                                {build.function("outer", "x.go", 1), 0, 40}};
  const std::vector<LocationId> frames{build.location(place, lines), build.frame("main")};
  const StackId stack = build.stack(frames);
  const StackId other = build.stack(std::span(frames).subspan(1));
  Profile& p = batch.profiles.emplace_back();
  for (const char* type : {"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"}) {
    p.sample_types.push_back(
        {build.string(type),
         build.string(std::string_view(type).ends_with("space") ? "bytes" : "count"),
         temporality_of(type)});
  }
  p.name = build.string("memory");
  p.default_type = 1;
  p.period_type = {build.string("space"), build.string("bytes"), Temporality::kCumulative};
  p.period = 524288;
  p.time_ns = 1'600'000'000'000'000'000;
  p.duration_ns = 10;
  p.comments = {build.string("first"), build.string("second")};
  p.doc_url = build.string("https://example.com");
  p.drop_frames = build.string("^drop");
  p.keep_frames = build.string("^keep");
  p.losses = {{build.string("ring full"), 3}};
  const std::vector<Label> labels{build.number_label("bytes", 64, "bytes"),
                                  build.text_label("tag", "x"), build.text_label("tag", "y")};
  const std::vector<int64_t> first{1, 64, 0, 0};
  const std::vector<int64_t> second{10, 640, 5, 320};
  const std::vector<int64_t> zeros{0, 0, 0, 0};
  p.add_sample(stack, first, build.label_set(labels));
  p.add_sample(stack, second);
  p.add_sample(other, zeros);
  return batch;
}

TEST(OtlpWriter, SplitsSampleTypesAndJoinsThemAgain) {
  const ProfileBatch before = pprof_like();
  const std::string bytes = write_otlp(before);
  EXPECT_TRUE(looks_like_otlp(bytes));
  const ProfileBatch after = must_read(bytes);
  ASSERT_EQ(after.profiles.size(), 1u);
  const Profile& a = before.profiles[0];
  const Profile& b = after.profiles[0];
  EXPECT_EQ(rows_of(before, a), rows_of(after, b));
  ASSERT_EQ(b.sample_types.size(), 4u);
  const auto text = [&](StringId id) { return std::string(after.dictionary.string(id)); };
  EXPECT_EQ(text(b.sample_types[3].type), "inuse_space");
  EXPECT_EQ(b.sample_types[3].temporality, Temporality::kInstant);
  EXPECT_EQ(b.default_type, 1u);
  EXPECT_EQ(text(b.name), "memory");
  EXPECT_EQ(text(b.period_type.type), "space");
  EXPECT_EQ(b.period, a.period);
  EXPECT_EQ(b.time_ns, a.time_ns);
  EXPECT_EQ(b.duration_ns, a.duration_ns);
  ASSERT_EQ(b.comments.size(), 2u);
  EXPECT_EQ(text(b.comments[0]), "first");
  EXPECT_EQ(text(b.comments[1]), "second");
  EXPECT_EQ(text(b.doc_url), "https://example.com");
  EXPECT_EQ(text(b.drop_frames), "^drop");
  EXPECT_EQ(text(b.keep_frames), "^keep");
  ASSERT_EQ(b.losses.size(), 1u);
  EXPECT_EQ(text(b.losses[0].reason), "ring full");
  EXPECT_EQ(b.losses[0].count, 3u);
  ASSERT_EQ(after.dictionary.mappings.size(), 2u);
  const Mapping& mapping = after.dictionary.mappings[1];
  EXPECT_EQ(text(mapping.build_id), "0123abcd");
  EXPECT_TRUE(mapping.has_functions && mapping.has_inline_frames);
  EXPECT_FALSE(mapping.has_filenames || mapping.has_line_numbers);
  const Location& location = after.dictionary.locations[1];
  EXPECT_TRUE(location.is_folded);
  EXPECT_EQ(location.kind, FrameKind::kGo);
  EXPECT_EQ(after.dictionary.lines[LocationId(1)][0].column, 7u);
  // A second trip changes nothing.
  EXPECT_EQ(write_otlp(after), write_otlp(must_read(write_otlp(after))));
}

TEST(OtlpWriter, AHashOfAFileIsNotTakenForABuildId) {
  for (const std::string_view identity :
       {"htlhash:00112233445566778899aabbccddeeff", "0123abcd", "go/build/id"}) {
    ProfileBatch batch = pprof_like();
    batch.dictionary.mappings[1].build_id = batch.dictionary.strings.intern(identity);
    const std::string written = write_otlp(batch);
    EXPECT_EQ(written.find("build_id.htlhash") != std::string::npos,
              identity.starts_with("htlhash:"));
    EXPECT_EQ(written.find("htlhash:"), std::string::npos) << "the mark is for the model alone";
    const ProfileBatch after = must_read(written);
    EXPECT_EQ(after.dictionary.string(after.dictionary.mappings[1].build_id), identity);
  }
}

TEST(OtlpWriter, WritesNoOrphansAndNoDuplicates) {
  ProfileBatch batch = pprof_like();
  // Entries that nobody uses, and a twin of one that is used.
  batch.dictionary.strings.add("orphan");
  const StringId twin = batch.dictionary.strings.add("main");
  batch.dictionary.functions.push_back({twin, twin, {}, 0});
  batch.dictionary.functions.push_back(batch.dictionary.functions.back());
  const std::string bytes = write_otlp(batch);
  EXPECT_EQ(bytes, write_otlp(pprof_like()));
  EXPECT_EQ(bytes.find("orphan"), std::string::npos);
}

TEST(OtlpWriter, RowsThatAreAlikeShareOneSample) {
  TestMessage m;
  m.samples = {{1, {10, 20}, {3}, 1, {100, 200}}, {2, {5}, {}, 0, {}}, {1, {30}, {3}, 1, {300}}};
  ReadOptions options;
  options.keep_timestamps = true;
  const ProfileBatch batch = must_read(m.encode(), options);
  ASSERT_EQ(batch.profiles[0].samples.size(), 4u);
  const std::string bytes = write_otlp(batch);
  const ProfileBatch again = must_read(bytes, options);
  EXPECT_EQ(rows_of(batch, batch.profiles[0]), rows_of(again, again.profiles[0]));
  // Two samples only: 3 timestamps are packed in 24 bytes.
  EXPECT_NE(bytes.find(std::string("\x2a\x18", 2)), std::string::npos);
}

TEST(OtlpWriter, KeepsProfilesOfSeveralResourcesApart) {
  ProfileBatch batch;
  DictionaryBuilder build(batch.dictionary);
  const StackId stack = build.stack(std::vector{build.frame("f")});
  for (const int64_t pid : {1, 2, 1}) {
    Profile& p = batch.profiles.emplace_back();
    p.sample_types = {{build.string("cpu"), build.string("nanoseconds")}};
    p.resource = build.label_set(std::vector{build.number_label("process.pid", pid)});
    p.add_sample(stack, std::vector<int64_t>{pid * 100});
  }
  const ProfileBatch again = must_read(write_otlp(batch));
  ASSERT_EQ(again.profiles.size(), 3u);
  EXPECT_EQ(label_text(again, again.profiles[0].resource, "process.pid"), "1");
  EXPECT_EQ(label_text(again, again.profiles[1].resource, "process.pid"), "1");
  EXPECT_EQ(label_text(again, again.profiles[2].resource, "process.pid"), "2");
  EXPECT_EQ(total_of(again.profiles[2], 0), 200);
}

TEST(OtlpWriter, AnEmptyBatchIsALegalMessage) {
  const ProfileBatch again = must_read(write_otlp({}));
  EXPECT_TRUE(again.profiles.empty());
}

}  // namespace
}  // namespace vesta
