#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/pprof/reader.h"
#include "formats/pprof/test_profile.h"
#include "formats/pprof/writer.h"
#include "profile/dictionary_builder.h"

namespace vesta::pprof {
namespace {

using ::testing::HasSubstr;

ProfileBatch read_ok(std::string_view bytes, const ReadOptions& options = {}) {
  Result<ProfileBatch> batch = read_pprof(bytes, options);
  EXPECT_TRUE(batch.ok()) << batch.error().message;
  if (!batch.ok()) return {.dictionary = {}, .profiles = std::vector<Profile>(1)};
  EXPECT_EQ(find_inconsistency(*batch), "");
  return *std::move(batch);
}

std::string function_name(const ProfileBatch& batch, size_t row, size_t depth) {
  const Dictionary& d = batch.dictionary;
  const auto stack = d.stacks[batch.profiles[0].samples.stacks[row]];
  return std::string(d.string(d.function(d.lines[stack[depth]][0].function).name));
}

TEST(PprofReader, ReadsStacksLeafFirst) {
  const ProfileBatch batch = read_ok(FileBuilder::small().finish());
  const Profile& p = batch.profiles[0];
  ASSERT_EQ(p.samples.size(), 2u);
  EXPECT_EQ(p.value(0, 0), 30);
  EXPECT_EQ(function_name(batch, 0, 0), "main.work");
  EXPECT_EQ(function_name(batch, 0, 1), "main.main");
  EXPECT_EQ(function_name(batch, 1, 0), "main.main");
  EXPECT_EQ(total_of(p, 0), 35);
  EXPECT_TRUE(p.samples.labels.empty());
  EXPECT_TRUE(p.samples.links.empty());
  EXPECT_TRUE(p.samples.times_ns.empty());
}

TEST(PprofReader, TakesUnpackedAndSplitFields) {
  FileBuilder file = FileBuilder::small();
  WireWriter m;
  m.always_uint64(sample::kLocationId, 2);
  m.always_uint64(sample::kValue, 9);
  m.always_uint64(sample::kLocationId, 1);
  file.out.message(profile::kSample, m);
  m.clear();
  const std::vector<uint64_t> one{1};
  const std::vector<uint64_t> two{2};
  const auto same = [](uint64_t id) { return id; };
  m.packed(sample::kLocationId, two, same);
  m.packed(sample::kValue, one, same);
  m.packed(sample::kLocationId, one, same);
  file.out.message(profile::kSample, m);
  const ProfileBatch batch = read_ok(file.finish());
  for (const size_t row : {2u, 3u}) {
    EXPECT_EQ(function_name(batch, row, 0), "main.work");
    EXPECT_EQ(function_name(batch, row, 1), "main.main");
  }
  EXPECT_EQ(total_of(batch.profiles[0], 0), 45);
}

TEST(PprofReader, OrderOfFieldsDoesNotMatter) {
  FileBuilder file;
  WireWriter strings;
  for (const char* text : {"", "cpu", "nanoseconds", "f"})
    strings.always_bytes(profile::kStringTable, text);
  file.sample({4}, {1});
  file.location(4, {9});
  file.string("cpu");
  file.string("nanoseconds");
  file.function(9, "f");
  file.sample({4}, {2});
  file.sample_type("cpu", "nanoseconds");
  const ProfileBatch batch = read_ok(strings.take() + file.out.take());
  EXPECT_EQ(total_of(batch.profiles[0], 0), 3);
  EXPECT_EQ(function_name(batch, 1, 0), "f");
}

TEST(PprofReader, SkipsFieldsItDoesNotKnow) {
  FileBuilder file = FileBuilder::small();
  file.out.always_uint64(99, 5);
  file.out.always_bytes(1000, "later");
  file.out.fixed64(77, 1);
  WireWriter more;
  more.always_uint64(50, 1);
  more.fixed64(51, 1);
  file.sample({1}, {4}, more.view());
  EXPECT_EQ(total_of(read_ok(file.finish()).profiles[0], 0), 39);
}

// Ids in order, dense but shuffled, far apart, and as large as they get.
// .NET's profiler leaves the ids of functions out; those of locations are meant.
TEST(PprofReader, FunctionsWithoutIdsHaveThoseOfLocations) {
  const auto file = [](uint64_t second_id) {
    FileBuilder out;
    out.sample_type("cpu", "nanoseconds");
    out.function(0, "Program.Main");
    out.function(second_id, "Program.Work");
    out.location(7, {7});
    out.location(5, {5});
    out.sample({5, 7}, {30});
    return out.finish();
  };
  const ProfileBatch batch = read_ok(file(0));
  EXPECT_EQ(function_name(batch, 0, 0), "Program.Work");
  EXPECT_EQ(function_name(batch, 0, 1), "Program.Main");
  EXPECT_FALSE(read_pprof(file(5)).ok());
}

TEST(PprofReader, IdsMayBeAnyNumbers) {
  constexpr uint64_t kMax = ~uint64_t{0};
  for (const std::vector<uint64_t>& ids : {std::vector<uint64_t>{1, 2, 3},
                                           {3, 1, 2},
                                           {2, 3, 4},
                                           {1, 1000, 0x7F0012345678},
                                           {kMax, kMax - 1, 1},
                                           {0x10000001, 0x20000002, 0x30000003}}) {
    FileBuilder file;
    file.sample_type("cpu", "nanoseconds");
    for (size_t i = 0; i < 3; ++i) {
      file.mapping(ids[i], fmt::format("/bin/{}", i));
      file.function(ids[2 - i], fmt::format("f{}", 2 - i));
      file.location(ids[i], {ids[i]}, ids[i]);
    }
    file.sample({ids[0], ids[1], ids[2]}, {1});
    const ProfileBatch batch = read_ok(file.finish());
    const Dictionary& d = batch.dictionary;
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(function_name(batch, 0, i), fmt::format("f{}", i));
      const LocationId location = d.stacks[batch.profiles[0].samples.stacks[0]][i];
      EXPECT_EQ(d.string(d.mapping(d.location(location).mapping).file), fmt::format("/bin/{}", i));
    }
  }
}

// The usual order of fields has a faster way of its own.
TEST(PprofReader, FieldsMayStandInAnyOrder) {
  struct Field {
    uint32_t number;
    uint64_t value;
  };
  const auto message = [](std::vector<Field> fields, int order) {
    if (order == 1) std::ranges::reverse(fields);
    if (order == 2) fields.push_back({77, 1});                                  // not known
    if (order == 3) fields.insert(fields.begin(), {fields.back().number, 99});  // the last counts
    WireWriter out;
    for (const Field& field : fields) out.always_uint64(field.number, field.value);
    return out;
  };
  const auto read = [&](int order) {
    FileBuilder file;
    file.sample_type("cpu", "nanoseconds");
    file.mapping(1, "/bin/app");
    const std::vector<uint64_t> numbers{1,          127,        128,        16'383,
                                        16'384,     0xFFFF,     1ull << 28, 1ull << 35,
                                        1ull << 55, 1ull << 56, 1ull << 63, ~uint64_t{0}};
    std::vector<uint64_t> ids;
    for (const uint64_t number : numbers) {
      const uint64_t id = ids.size() + 1;
      ids.push_back(id);
      const auto name = file.string(fmt::format("f{}", id));
      file.out.message(profile::kFunction, message({{function::kId, id},
                                                    {function::kName, name},
                                                    {function::kSystemName, name},
                                                    {function::kFilename, file.string("a.go")},
                                                    {function::kStartLine, number}},
                                                   order));
      WireWriter location = message(
          {{location::kId, id}, {location::kMappingId, id % 2}, {location::kAddress, number}},
          order);
      for (uint64_t i = 0; i < id % 4; ++i) {
        location.message(location::kLine, message({{line::kFunctionId, id - i},
                                                   {line::kLine, number},
                                                   {line::kColumn, number & 0xFFFFFFFF}},
                                                  order));
      }
      if (id % 5 == 0) location.uint64(location::kIsFolded, 1);
      file.out.message(profile::kLocation, location);
    }
    file.sample(ids, {1});
    return describe(read_ok(file.finish()));
  };
  const std::string plain = read(0);
  EXPECT_THAT(plain, HasSubstr("0x8000000000000000@/bin/app"));
  for (int order = 1; order <= 3; ++order) EXPECT_EQ(read(order), plain) << order;
}

TEST(PprofReader, StringsMayStandApart) {
  constexpr size_t kStrings = 200'000;
  FileBuilder file;
  file.sample_type("cpu", "nanoseconds");
  std::string bytes = file.finish();
  for (size_t i = 0; i < kStrings; ++i) {
    WireWriter out;
    out.always_uint64(profile::kPeriod, i);
    out.always_bytes(profile::kStringTable, fmt::format("string {}", i));
    bytes += out.view();
  }
  const ProfileBatch batch = read_ok(bytes);
  EXPECT_EQ(batch.dictionary.string(StringId(2 + kStrings)), "string 199999");
}

TEST(PprofReader, LongNamesMayStandAmongShortOnes) {
  const std::string long_name(300, 'x');
  const std::string wide_name = std::string(150, 'y') + "é";
  for (const std::string& name : {long_name, wide_name, std::string("z"), std::string("\xFF")}) {
    FileBuilder file = FileBuilder::small();
    file.function(3, "before");
    file.function(4, name);
    file.function(5, long_name + "2");
    file.function(6, "after");
    file.location(3, {3, 4, 5, 6});
    file.sample({3}, {1});
    const ProfileBatch batch = read_ok(file.finish());
    const Dictionary& d = batch.dictionary;
    const auto lines = d.lines[LocationId(3)];
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(d.string(d.function(lines[0].function).name), "before");
    EXPECT_EQ(d.string(d.function(lines[1].function).name), name == "\xFF" ? "\xEF\xBF\xBD" : name);
    EXPECT_EQ(d.string(d.function(lines[2].function).name), long_name + "2");
    EXPECT_EQ(d.string(d.function(lines[3].function).name), "after");
  }
}

TEST(PprofReader, LongStacksKeepEveryFrame) {
  constexpr uint64_t kLocations = 20'000;  // ids of one, two and three bytes
  FileBuilder file;
  file.sample_type("cpu", "nanoseconds");
  file.function(1, "f");
  for (uint64_t id = 1; id <= kLocations; ++id) file.location(id, {1});
  std::vector<std::vector<uint64_t>> stacks;
  for (uint64_t depth = 1; depth < 400; depth += 7) {
    std::vector<uint64_t> stack;
    for (uint64_t i = 0; i < depth; ++i) stack.push_back(1 + (i * i * 37 + depth) % kLocations);
    file.sample(stack, {1});
    stacks.push_back(stack);
  }
  const ProfileBatch batch = read_ok(file.finish());
  for (size_t row = 0; row < stacks.size(); ++row) {
    const auto got = batch.dictionary.stacks[batch.profiles[0].samples.stacks[row]];
    ASSERT_EQ(got.size(), stacks[row].size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i].value, stacks[row][i]);
  }
}

TEST(PprofReader, EqualStacksInARowAreOne) {
  FileBuilder file = FileBuilder::small();
  file.sample({1}, {6});
  const ProfileBatch batch = read_ok(file.finish());
  EXPECT_EQ(batch.profiles[0].samples.stacks[1], batch.profiles[0].samples.stacks[2]);
  EXPECT_EQ(batch.dictionary.stacks.size(), 3u);
}

TEST(PprofReader, EqualLabelsAreOneSetInAnyOrder) {
  FileBuilder file = FileBuilder::small();
  const std::string thread = file.text_label("thread", "main");
  const std::string size = file.number_label("bytes", 64, "bytes");
  file.sample({1}, {1}, thread + size);
  file.sample({2}, {1}, size + thread);
  file.sample({2}, {1}, thread);
  const ProfileBatch batch = read_ok(file.finish());
  const Samples& samples = batch.profiles[0].samples;
  ASSERT_EQ(samples.labels.size(), 5u);
  EXPECT_FALSE(samples.labels[0]);
  EXPECT_EQ(samples.labels[2], samples.labels[3]);
  EXPECT_NE(samples.labels[3], samples.labels[4]);
  EXPECT_EQ(describe_labels(batch.dictionary, samples.labels[2]), "bytes=64 bytes,thread=\"main\"");
}

TEST(PprofReader, ALabelGivenTwiceIsOne) {
  FileBuilder file = FileBuilder::small();
  const std::string a = file.text_label("a", "1");
  file.sample({1}, {1}, a + file.text_label("a", "2") + a);
  const ProfileBatch batch = read_ok(file.finish());
  EXPECT_EQ(describe_labels(batch.dictionary, batch.profiles[0].samples.labels[2]),
            "a=\"1\",a=\"2\"");
}

TEST(PprofReader, CommentsMayBePackedOrNot) {
  FileBuilder file = FileBuilder::small();
  const std::vector<uint64_t> packed{file.string("one"), file.string("two")};
  file.out.packed(profile::kComment, packed, [](uint64_t index) { return index; });
  file.out.always_uint64(profile::kComment, file.string("three"));
  const ProfileBatch batch = read_ok(file.finish());
  std::vector<std::string_view> texts;
  for (const StringId id : batch.profiles[0].comments) texts.push_back(batch.dictionary.string(id));
  EXPECT_THAT(texts, testing::ElementsAre("one", "two", "three"));
}

TEST(PprofReader, LabelsMayBeApart) {
  FileBuilder file = FileBuilder::small();
  const std::string a = file.text_label("a", "1");
  const std::string b = file.text_label("b", "2");
  WireWriter m;
  m.always_uint64(sample::kLocationId, 1);
  std::string message = a + m.take() + b;
  m.always_uint64(sample::kValue, 1);
  file.out.always_bytes(profile::kSample, message + m.take());
  const ProfileBatch batch = read_ok(file.finish());
  EXPECT_EQ(describe_labels(batch.dictionary, batch.profiles[0].samples.labels[2]),
            "a=\"1\",b=\"2\"");
}

TEST(PprofReader, TraceLabelsSetTheLink) {
  FileBuilder file = FileBuilder::small();
  file.sample({1}, {1},
              file.text_label("trace_id", "000102030405060708090A0B0C0D0E0F") +
                  file.text_label("span_id", "ff00000000000001"));
  file.sample({1}, {1}, file.text_label("span_id", "not an id of 16"));
  const ProfileBatch batch = read_ok(file.finish());
  const Samples& samples = batch.profiles[0].samples;
  ASSERT_EQ(samples.links.size(), 4u);
  EXPECT_FALSE(samples.links[0]);
  const Link& link = batch.dictionary.links[samples.links[2].index()];
  EXPECT_EQ(link.trace_id[15], 0x0F);
  EXPECT_EQ(link.span_id[0], 0xFF);
  EXPECT_FALSE(samples.links[3]);
  EXPECT_THAT(describe_labels(batch.dictionary, samples.labels[2]), HasSubstr("trace_id="));
}

TEST(PprofReader, TimesAreKeptOnRequest) {
  FileBuilder file = FileBuilder::small();
  file.sample({1}, {1}, file.number_label("end_timestamp_ns", 1234, "nanoseconds"));
  file.sample({1}, {1}, file.number_label("timestamp_ns", 99));
  const std::string bytes = file.finish();
  EXPECT_TRUE(read_ok(bytes).profiles[0].samples.times_ns.empty());
  const ProfileBatch batch = read_ok(bytes, {.keep_timestamps = true});
  EXPECT_THAT(batch.profiles[0].samples.times_ns, testing::ElementsAre(0, 0, 1234, 99));
}

TEST(PprofReader, DefaultTypeIsTheNamedOneOrTheLast) {
  for (const auto& [name, expected] :
       {std::pair("", 2u), std::pair("alloc_space", 1u), std::pair("no such type", 2u)}) {
    FileBuilder file;
    file.sample_type("alloc_objects", "count");
    file.sample_type("alloc_space", "bytes");
    file.sample_type("inuse_space", "bytes");
    file.out.uint64(profile::kDefaultSampleType, file.string(name));
    const ProfileBatch batch = read_ok(file.finish());
    EXPECT_EQ(batch.profiles[0].default_type, expected) << name;
    EXPECT_EQ(batch.profiles[0].sample_types[1].temporality, Temporality::kCumulative);
    EXPECT_EQ(batch.profiles[0].sample_types[2].temporality, Temporality::kInstant);
  }
}

TEST(PprofReader, LossCommentsBecomeLosses) {
  FileBuilder file = FileBuilder::small();
  for (const char* text : {"built by hand", "vesta.loss: 12 ring full", "vesta.loss: 3 ring full",
                           "vesta.loss: many", "vesta.loss: 5"}) {
    file.out.always_uint64(profile::kComment, file.string(text));
  }
  const ProfileBatch batch = read_ok(file.finish());
  const Profile& p = batch.profiles[0];
  ASSERT_EQ(p.losses.size(), 1u);
  EXPECT_EQ(p.losses[0].count, 15u);
  EXPECT_EQ(batch.dictionary.string(p.losses[0].reason), "ring full");
  EXPECT_EQ(p.comments.size(), 3u);
}

TEST(PprofReader, KindsComeFromMappingsAndSources) {
  FileBuilder file;
  file.sample_type("cpu", "nanoseconds");
  file.mapping(1, "/usr/bin/app");
  file.mapping(2, "[kernel.kallsyms]");
  file.mapping(3, "/usr/lib/debug/vmlinux-6.1");
  const std::vector<std::tuple<const char*, uint64_t, FrameKind>> cases = {
      {"a.go", 1, FrameKind::kGo},      {"A.java", 1, FrameKind::kJvm},
      {"a.py", 0, FrameKind::kCpython}, {"a.rs", 1, FrameKind::kRust},
      {"a.mjs", 0, FrameKind::kV8js},   {"a.ts", 0, FrameKind::kV8js},
      {"a.c", 2, FrameKind::kKernel},   {"", 3, FrameKind::kKernel},
      {"a.c", 1, FrameKind::kUnknown},  {"", 0, FrameKind::kUnknown},
      {"go", 1, FrameKind::kUnknown},   {"dir.go/x", 1, FrameKind::kUnknown},
  };
  uint64_t id = 0;
  for (const auto& [source, mapping_id, kind] : cases) {
    ++id;
    file.function(id, "f", source);
    file.location(id, {id}, mapping_id);
  }
  const ProfileBatch batch = read_ok(file.finish());
  for (size_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(batch.dictionary.locations[i + 1].kind, std::get<2>(cases[i])) << i;
}

// A batch with all that the format can hold.
ProfileBatch rich_batch() {
  ProfileBatch batch;
  DictionaryBuilder builder(batch.dictionary);
  Profile p;
  for (const auto& [type, unit] : {std::pair("samples", "count"), std::pair("cpu", "nanoseconds"),
                                   std::pair("inuse_space", "bytes")}) {
    p.sample_types.push_back({builder.string(type), builder.string(unit), temporality_of(type)});
  }
  p.default_type = 1;
  p.period_type = {builder.string("cpu"), builder.string("nanoseconds"), Temporality::kCumulative};
  p.period = 10'000'000;
  p.time_ns = 1'700'000'000'123'456'789;
  p.duration_ns = 5'000'000'000;
  p.comments = {builder.string("first"), builder.string("second")};
  p.doc_url = builder.string("https://example.org/doc");
  p.drop_frames = builder.string("runtime\\..*");
  p.keep_frames = builder.string("runtime\\.gc");
  p.losses = {{builder.string("ring full"), 17}, {builder.string("stack truncated"), 2}};

  Mapping unused;
  unused.file = builder.string("/usr/bin/unused");
  builder.mapping(unused);
  Mapping m;
  m.start = 0x400000;
  m.limit = 0x500000;
  m.file_offset = 0x1000;
  m.file = builder.string("/usr/bin/app");
  m.build_id = builder.string("abcdef");
  m.has_functions = m.has_inline_frames = true;
  Function f{builder.string("Outer()"), builder.string("_Z5Outerv"), builder.string("a.cc"), 10};
  const FunctionId outer = builder.function(f);
  const FunctionId inner = builder.function("Inner()", "a.h", 3);
  builder.function("Unused()");
  Location place;
  place.address = 0x401234;
  place.mapping = builder.mapping(m);
  place.is_folded = true;
  const Line lines[] = {{inner, 9, 5}, {outer, 12, 15}};
  const LocationId a = builder.location(place, lines);
  const LocationId b = builder.frame("main", "main.go", 42);
  builder.frame("Unused()", "x.go", 1);
  Location bare;
  bare.address = 0xFFFFFFFF81000000;
  const LocationId c = builder.location(bare, {});

  const StackId two = builder.stack(std::vector{a, b});
  const StackId three = builder.stack(std::vector{c, a, b});
  const Label labels[] = {builder.text_label("thread", "main"), builder.text_label("empty", ""),
                          builder.number_label("size", 512, "bytes"),
                          builder.number_label("zero", 0)};
  Link link;
  link.trace_id[0] = 0xAB;
  link.span_id[7] = 1;
  p.add_sample(two, std::vector<int64_t>{1, 10, 0});
  p.add_sample(three, std::vector<int64_t>{2, 20, 9}, builder.label_set(labels));
  p.add_sample(two, std::vector<int64_t>{3, INT64_MAX, 1}, {}, builder.link(link));
  p.add_sample(two, std::vector<int64_t>{4, 1, 1}, {}, {}, 1'700'000'000'500'000'000);
  p.add_sample({}, std::vector<int64_t>{5, 1, 1});
  batch.profiles.push_back(std::move(p));
  return batch;
}

// Links and times come back as labels too, by design; without them, all is as it was.
TEST(PprofWriter, WhatWasWrittenReadsBackTheSame) {
  ProfileBatch batch = rich_batch();
  const std::string bytes = write_pprof(batch);
  EXPECT_TRUE(looks_like_pprof(bytes));
  const ReadOptions options{.keep_timestamps = true};
  const ProfileBatch with_links = read_ok(bytes, options);
  const Samples& got = with_links.profiles[0].samples;
  EXPECT_EQ(with_links.dictionary.links[got.links[2].index()], batch.dictionary.links[1]);
  EXPECT_EQ(describe_labels(with_links.dictionary, got.labels[2]),
            "span_id=\"0000000000000001\",trace_id=\"ab000000000000000000000000000000\"");
  EXPECT_EQ(got.times_ns[3], 1'700'000'000'500'000'000);
  EXPECT_EQ(describe_labels(with_links.dictionary, got.labels[3]),
            "timestamp_ns=1700000000500000000 nanoseconds");

  // Labels that are there are not written again.
  EXPECT_EQ(describe(read_ok(write_pprof(with_links), options)), describe(with_links));

  batch.profiles[0].samples.links.clear();
  batch.profiles[0].samples.times_ns.clear();
  EXPECT_EQ(describe(read_ok(write_pprof(batch), options)), describe(batch));
}

TEST(PprofWriter, WritesOnlyWhatIsUsed) {
  const std::string bytes = write_pprof(rich_batch());
  EXPECT_EQ(bytes.find("nused"), std::string::npos);
  const ProfileBatch batch = read_ok(bytes);
  EXPECT_EQ(batch.dictionary.mappings.size(), 2u);
  EXPECT_EQ(batch.dictionary.functions.size(), 4u);
  EXPECT_EQ(batch.dictionary.locations.size(), 4u);
}

TEST(PprofWriter, IsDeterministic) {
  const std::string once = write_pprof(rich_batch());
  EXPECT_EQ(once, write_pprof(rich_batch()));
  EXPECT_EQ(once, write_pprof(ProfileBatch(rich_batch())));
}

TEST(PprofWriter, WritesTheEmptyEntriesWhenTheyAreUsed) {
  ProfileBatch batch;
  DictionaryBuilder builder(batch.dictionary);
  Profile p;
  p.sample_types.push_back({builder.string("cpu"), builder.string("nanoseconds"), {}});
  const Line nameless{};
  const LocationId location = builder.location({}, std::span(&nameless, 1));
  p.add_sample(builder.stack(std::vector{LocationId(), location}), std::vector<int64_t>{1});
  batch.profiles.push_back(std::move(p));
  const ProfileBatch again = read_ok(write_pprof(batch));
  EXPECT_EQ(describe(again), describe(batch));
}

TEST(PprofWriter, KeepsNegativeValues) {
  FileBuilder file = FileBuilder::small();
  file.sample({1}, {-9});
  const ReadOptions options{.allow_negative = true};
  const ProfileBatch batch = read_ok(file.finish(), options);
  EXPECT_EQ(describe(read_ok(write_pprof(batch), options)), describe(batch));
}

}  // namespace
}  // namespace vesta::pprof
