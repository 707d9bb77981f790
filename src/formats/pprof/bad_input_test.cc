#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/common/losses.h"
#include "formats/pprof/reader.h"
#include "formats/pprof/test_profile.h"
#include "formats/pprof/writer.h"

namespace vesta::pprof {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// The message of the error that must come; every one has a place and a hint.
std::string error_of(std::string_view bytes, const ReadOptions& options = {}) {
  const Result<ProfileBatch> batch = read_pprof(bytes, options);
  if (batch.ok()) return "no error";
  EXPECT_THAT(batch.error().message, StartsWith("pprof: "));
  EXPECT_FALSE(batch.error().hint.empty());
  return batch.error().message;
}

TEST(PprofBadInput, EmptyFile) {
  EXPECT_EQ(error_of(""), "pprof: byte 0: the file is empty");
  EXPECT_FALSE(looks_like_pprof(""));
}

// A file that ends between two fields may be complete, but then strings or samples are missing.
TEST(PprofBadInput, TruncatedAnywhere) {
  FileBuilder file = FileBuilder::small();
  file.sample({1}, {1}, file.text_label("thread", "main"));
  const std::string bytes = file.finish();
  ASSERT_TRUE(read_pprof(bytes).ok());
  for (size_t length = 0; length < bytes.size(); ++length) {
    const std::string part = bytes.substr(0, length);  // a copy: nothing to read beyond it
    const Result<ProfileBatch> batch = read_pprof(part);
    EXPECT_FALSE(batch.ok()) << length;
  }
}

TEST(PprofBadInput, DamagedAnywhere) {
  FileBuilder file = FileBuilder::small();
  file.sample({1}, {1}, file.text_label("thread", "main"));
  const std::string bytes = file.finish();
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(value);
      const Result<ProfileBatch> batch = read_pprof(damaged);
      EXPECT_EQ(batch.ok() ? find_inconsistency(*batch) : "", "") << at;
    }
  }
}

// Tables at the very end of a file are read with care, others in a hurry: the answer is the same.
TEST(PprofBadInput, DamagedTablesAreTheSameWhereverTheyStand) {
  FileBuilder file;
  file.sample_type("cpu", "nanoseconds");
  file.sample({1}, {30});
  const size_t before_tables = file.out.view().size();
  file.function(1, "main.main", "main.go");
  file.location(1, {1});
  const std::string body = file.out.take();
  const std::string bytes = file.finish() + body;
  const size_t tables_begin = bytes.size() - body.size() + before_tables;
  WireWriter padding;
  padding.bytes(100, std::string(100, ' '));
  const auto answer = [](const std::string& damaged) {
    const Result<ProfileBatch> batch = read_pprof(damaged);
    return batch.ok() ? describe(*batch) : batch.error().message;
  };
  ASSERT_TRUE(read_pprof(bytes).ok());
  for (size_t at = tables_begin; at < bytes.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(value);
      const std::string alone = answer(damaged);
      const bool runs_out = alone.find("past the end") != std::string::npos ||
                            alone.find("cut off") != std::string::npos;
      if (runs_out) continue;
      EXPECT_EQ(answer(damaged + padding.view()), alone) << at << " " << value;
    }
  }
}

TEST(PprofBadInput, LengthBeyondTheEnd) {
  std::string bytes = FileBuilder::small().finish();
  const size_t at = bytes.size();
  bytes += std::string("\x12\xFF\xFF\xFF\xFF\x07", 6);  // a sample of 2 GiB
  EXPECT_THAT(error_of(bytes), StartsWith(fmt::format("pprof: byte {}: length", at)));
}

TEST(PprofBadInput, TextIsNoProfile) {
  for (const char* text : {"main;work 12\n", "{\"$schema\": 1}", "<html>", "\n\n\n", "  a  ",
                           "java 123 [001] 1.0: cycles:\n", "FLR\1\1\1\1\1"}) {
    EXPECT_THAT(error_of(text), HasSubstr("byte ")) << text;
    EXPECT_FALSE(looks_like_pprof(text)) << text;
  }
}

TEST(PprofBadInput, NoSampleType) {
  FileBuilder file;
  file.function(1, "f");
  EXPECT_THAT(error_of(file.finish()), HasSubstr("sample_type: missing"));
}

TEST(PprofBadInput, FirstStringIsNotEmpty) {
  WireWriter out;
  out.always_bytes(profile::kSampleType, "");
  out.always_bytes(profile::kStringTable, "cpu");
  EXPECT_EQ(error_of(out.view()), "pprof: byte 2: string_table[0]: must be the empty string");
  EXPECT_FALSE(looks_like_pprof(out.view()));
}

TEST(PprofBadInput, NoStrings) {
  WireWriter out;
  out.always_bytes(profile::kSampleType, "");
  EXPECT_THAT(error_of(out.view()), HasSubstr("string_table: missing"));
}

TEST(PprofBadInput, IdsThatAreZeroOrTwice) {
  const auto with = [](auto&& add) {
    FileBuilder file = FileBuilder::small();
    add(file);
    return error_of(file.finish());
  };
  using B = FileBuilder;
  EXPECT_THAT(with([](B& f) { f.mapping(0, "a"); }), HasSubstr("mapping.id: must not be 0"));
  EXPECT_THAT(with([](B& f) { f.function(0, "a"); }), HasSubstr("function.id: must not be 0"));
  EXPECT_THAT(with([](B& f) { f.location(0, {1}); }), HasSubstr("location.id: must not be 0"));
  EXPECT_THAT(with([](B& f) { f.function(2, "a"); }), HasSubstr("function.id: duplicate 2"));
  EXPECT_THAT(with([](B& f) { f.location(1, {}); }), HasSubstr("location.id: duplicate 1"));
  EXPECT_THAT(with([](B& f) {
                f.mapping(1ull << 40, "a");
                f.mapping(1ull << 40, "b");
              }),
              HasSubstr("mapping.id: duplicate 1099511627776"));
}

TEST(PprofBadInput, IdsThatAreMissing) {
  const auto with = [](auto&& add) {
    FileBuilder file = FileBuilder::small();
    add(file);
    return error_of(file.finish());
  };
  using B = FileBuilder;
  EXPECT_THAT(with([](B& f) { f.location(3, {8}); }), HasSubstr("no function has the id 8"));
  EXPECT_THAT(with([](B& f) { f.location(3, {0}); }), HasSubstr("no function has the id 0"));
  EXPECT_THAT(with([](B& f) { f.location(3, {1}, 4); }), HasSubstr("no mapping has the id 4"));
  for (const uint64_t id : {uint64_t{0}, uint64_t{3}, uint64_t{1} << 28, ~uint64_t{0}}) {
    EXPECT_THAT(with([&](B& f) {
                  f.sample({1, id}, {1});
                }),
                HasSubstr(fmt::format("sample.location_id: no location has the id {}", id)));
    EXPECT_THAT(with([&](B& f) {
                  f.location(500, {});  // no longer in order
                  f.sample({1, id}, {1});
                }),
                HasSubstr(fmt::format("sample.location_id: no location has the id {}", id)));
  }
}

TEST(PprofBadInput, MissingLocationIsNamedByItsOffset) {
  FileBuilder file = FileBuilder::small();
  const size_t sample_at = file.out.view().size();
  file.sample({1, 2, 77}, {1});
  // Tag and length of the sample, tag and length of the ids, two ids.
  EXPECT_EQ(
      error_of(file.finish()),
      fmt::format("pprof: byte {}: sample.location_id: no location has the id 77", sample_at + 6));
}

TEST(PprofBadInput, StringsOutOfRange) {
  for (const uint64_t index : {uint64_t{1000}, ~uint64_t{0}, uint64_t{1} << 32}) {
    const auto with = [&](uint32_t field, uint32_t inner) {
      FileBuilder file = FileBuilder::small();
      WireWriter m;
      m.uint64(1, 9);  // an id, where there is one
      m.uint64(inner, index);
      file.out.message(field, m);
      return error_of(file.finish());
    };
    const std::string wrong = fmt::format("string {} of a table of", index);
    EXPECT_THAT(with(profile::kMapping, mapping::kFilename),
                HasSubstr("mapping.filename: " + wrong));
    EXPECT_THAT(with(profile::kMapping, mapping::kBuildId),
                HasSubstr("mapping.build_id: " + wrong));
    EXPECT_THAT(with(profile::kFunction, function::kName), HasSubstr("function.name: " + wrong));
    EXPECT_THAT(with(profile::kFunction, function::kSystemName),
                HasSubstr("system_name: " + wrong));
    EXPECT_THAT(with(profile::kFunction, function::kFilename), HasSubstr("filename: " + wrong));
    EXPECT_THAT(with(profile::kSampleType, value_type::kType), HasSubstr("sample_type: " + wrong));
    EXPECT_THAT(with(profile::kSampleType, value_type::kUnit), HasSubstr("sample_type: "));
    EXPECT_THAT(with(profile::kPeriodType, value_type::kType), HasSubstr("period_type: " + wrong));
    for (const uint32_t inner : {label::kKey, label::kStr, label::kNumUnit}) {
      FileBuilder file = FileBuilder::small();
      WireWriter m;
      m.uint64(inner, index);
      file.sample({1}, {1}, FileBuilder::label_field(m));
      EXPECT_THAT(error_of(file.finish()), HasSubstr(wrong));
    }
    for (const uint32_t field : {profile::kDropFrames, profile::kKeepFrames, profile::kComment,
                                 profile::kDefaultSampleType, profile::kDocUrl}) {
      FileBuilder file = FileBuilder::small();
      file.out.always_uint64(field, index);
      EXPECT_THAT(error_of(file.finish()), HasSubstr(wrong));
    }
  }
}

TEST(PprofBadInput, NumberOfValuesDiffers) {
  FileBuilder file = FileBuilder::small();
  file.sample({1}, {1, 2});
  EXPECT_THAT(error_of(file.finish()), HasSubstr("sample.value: 2 values for 1 sample types"));
  file = FileBuilder::small();
  file.sample({1}, {});
  EXPECT_THAT(error_of(file.finish()), HasSubstr("sample.value: 0 values for 1 sample types"));
}

// As Parca's delta profiles and the output of `pprof -proto -base` have them.
TEST(PprofBadInput, NegativeValuesAreKeptAndNoted) {
  const auto noted = [](const Result<ProfileBatch>& batch) {
    for (const Loss& loss : batch->profiles[0].losses)
      if (batch->dictionary.string(loss.reason) == kLossNegative) return loss.count;
    return uint64_t{0};
  };
  FileBuilder file = FileBuilder::small();
  file.sample({1}, {-1});
  const std::string bytes = file.finish();
  const Result<ProfileBatch> batch = read_pprof(bytes);
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  EXPECT_EQ(total_of(batch->profiles[0], 0), 34);
  EXPECT_EQ(noted(batch), 1u);
  EXPECT_EQ(noted(read_pprof(write_pprof(*batch))), 1u);  // once, however often it is written
  EXPECT_EQ(noted(read_pprof(bytes, {.allow_negative = true})), 0u);

  file = FileBuilder::small();
  file.sample({1}, {-1}, file.text_label("pprof::base", "true"));
  const Result<ProfileBatch> difference = read_pprof(file.finish());
  ASSERT_TRUE(difference.ok());
  EXPECT_EQ(total_of(difference->profiles[0], 0), 34);
  EXPECT_EQ(noted(difference), 0u);
}

TEST(PprofBadInput, WireTypesThatDoNotFit) {
  const auto with = [](auto&& add) {
    FileBuilder file = FileBuilder::small();
    add(file);
    return error_of(file.finish());
  };
  using B = FileBuilder;
  for (const uint32_t field : {1u, 2u, 3u, 4u, 5u, 6u, 11u})
    EXPECT_THAT(with([&](B& f) { f.out.always_uint64(field, 1); }), HasSubstr("wire type 0"));
  for (const uint32_t field : {7u, 8u, 9u, 10u, 12u, 14u, 15u})
    EXPECT_THAT(with([&](B& f) { f.out.always_bytes(field, "x"); }), HasSubstr("wire type 2"));
  EXPECT_THAT(with([](B& f) { f.out.fixed64(profile::kPeriod, 1); }), HasSubstr("wire type 1"));
  for (const uint32_t field : {3u, 4u, 5u}) {
    WireWriter m;
    m.always_uint64(1, 9);
    m.fixed64(2, 1);
    EXPECT_THAT(with([&](B& f) { f.out.message(field, m); }), HasSubstr("wire type 1"));
  }
  WireWriter m;
  m.fixed64(sample::kValue, 1);
  EXPECT_THAT(with([&](B& f) { f.sample({1}, {}, m.view()); }), HasSubstr("wire type 1"));
  EXPECT_THAT(with([&](B& f) { f.sample({1}, {1}, "\x7B"); }), HasSubstr("unknown wire type"));
}

TEST(PprofBadInput, MalformedPackedNumbers) {
  const std::string eleven(11, '\xFF');
  for (const std::string& packed : {std::string("\x01\x80"), eleven, eleven + std::string(80, '\1'),
                                    std::string(70, '\1') + eleven}) {
    for (const uint32_t field : {sample::kLocationId, sample::kValue}) {
      FileBuilder file = FileBuilder::small();
      WireWriter m;
      m.always_bytes(field, packed);
      file.sample({}, field == sample::kValue ? std::vector<int64_t>{} : std::vector<int64_t>{1},
                  m.view());
      EXPECT_THAT(error_of(file.finish()), HasSubstr("varint is "));
    }
  }
}

TEST(PprofBadInput, CommentCutOff) {
  FileBuilder file = FileBuilder::small();
  file.out.always_bytes(profile::kComment, std::string_view("\x01\x80", 2));
  EXPECT_THAT(error_of(file.finish()), HasSubstr("comment: varint is cut off"));
}

TEST(PprofBadInput, ColumnOutOfRange) {
  FileBuilder file = FileBuilder::small();
  WireWriter line;
  line.uint64(line::kFunctionId, 1);
  line.int64(line::kColumn, -1);
  WireWriter location;
  location.uint64(location::kId, 3);
  location.message(location::kLine, line);
  file.out.message(profile::kLocation, location);
  EXPECT_THAT(error_of(file.finish()), HasSubstr("line.column"));
}

TEST(PprofBadInput, OldFormatsSayHowToConvert) {
  const uint64_t header[] = {0, 3, 0, 10000, 0, 1, 1, 0x1234};
  const std::string binary(reinterpret_cast<const char*>(header), sizeof(header));
  for (const std::string& bytes :
       {binary, std::string("heap profile: 1: 2 [3: 4] @ heap_v2/524288\n"),
        std::string("--- contention\ncycles/second = 1\n"),
        std::string("goroutine profile: total 3\n")}) {
    EXPECT_FALSE(looks_like_pprof(bytes));
    EXPECT_TRUE(looks_like_legacy_pprof(bytes));
    const Result<ProfileBatch> batch = read_pprof(bytes);
    ASSERT_FALSE(batch.ok());
    EXPECT_EQ(batch.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(batch.error().hint, HasSubstr("go tool pprof -proto"));
  }
  EXPECT_FALSE(looks_like_legacy_pprof(FileBuilder::small().finish()));
}

uint64_t loss_of(const ProfileBatch& batch, std::string_view reason) {
  for (const Loss& loss : batch.profiles[0].losses) {
    if (batch.dictionary.string(loss.reason) == reason) return loss.count;
  }
  return 0;
}

TEST(PprofLimits, InvalidUtf8IsReplacedAndCounted) {
  FileBuilder file = FileBuilder::small();
  file.function(3, "bad\xFFname");
  file.function(4, "na\xC3\xAFve");
  const Result<ProfileBatch> batch = read_pprof(file.finish());
  ASSERT_TRUE(batch.ok());
  const Dictionary& d = batch->dictionary;
  EXPECT_EQ(d.string(d.functions[3].name), "bad\xEF\xBF\xBDname");
  EXPECT_EQ(d.string(d.functions[4].name), "na\xC3\xAFve");
  EXPECT_EQ(loss_of(*batch, kLossInvalidUtf8), 1u);
}

TEST(PprofLimits, LongNamesAreCutAtACharacter) {
  FileBuilder file = FileBuilder::small();
  file.function(3, std::string(18, 'x') + "\xE2\x82\xAC");
  const Result<ProfileBatch> batch = read_pprof(file.finish(), {.max_string_bytes = 20});
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->dictionary.string(batch->dictionary.functions[3].name), std::string(18, 'x'));
  EXPECT_EQ(loss_of(*batch, kLossNameTruncated), 1u);
  EXPECT_EQ(loss_of(*batch, kLossInvalidUtf8), 0u);
}

TEST(PprofLimits, DeepStacksAreCutAtTheRoot) {
  FileBuilder file = FileBuilder::small();
  std::vector<uint64_t> deep(10'000, 1);
  deep.front() = 2;
  file.sample(deep, {1});
  file.sample(deep, {1});
  file.sample({1, 2, 1}, {1});
  const std::string bytes = file.finish();
  for (const size_t limit : {size_t{3}, size_t{4096}, size_t{9'999}}) {
    const Result<ProfileBatch> batch = read_pprof(bytes, {.max_stack_depth = limit});
    ASSERT_TRUE(batch.ok());
    const Samples& samples = batch->profiles[0].samples;
    const auto stack = batch->dictionary.stacks[samples.stacks[2]];
    EXPECT_EQ(stack.size(), limit);
    EXPECT_EQ(stack.front(), LocationId(2));
    EXPECT_EQ(batch->dictionary.stacks[samples.stacks[4]].size(), 3u);
    EXPECT_EQ(loss_of(*batch, kLossStackTruncated), 2u);
  }
  const Result<ProfileBatch> whole = read_pprof(bytes, {.max_stack_depth = 10'000});
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(loss_of(*whole, kLossStackTruncated), 0u);
}

TEST(PprofLimits, AreAnsweredByName) {
  FileBuilder file = FileBuilder::small();
  std::string labels;
  for (int i = 0; i < 5; ++i) labels += file.number_label("n", i);
  file.sample({1}, {1}, labels);
  const std::string bytes = file.finish();
  EXPECT_THAT(error_of(bytes, {.max_decoded_bytes = 10}), HasSubstr("size in bytes"));
  EXPECT_THAT(error_of(bytes, {.max_samples = 2}), HasSubstr("number of samples"));
  EXPECT_THAT(error_of(bytes, {.max_labels_per_sample = 4}), HasSubstr("number of labels"));
  EXPECT_TRUE(read_pprof(bytes, {.max_samples = 3, .max_labels_per_sample = 5}).ok());
}

// Many types and many samples must not multiply into a reservation.
TEST(PprofLimits, CountsDoNotMultiply) {
  WireWriter out;
  for (int i = 0; i < 300'000; ++i) out.always_bytes(profile::kSampleType, "");
  for (int i = 0; i < 300'000; ++i) out.always_bytes(profile::kSample, "");
  out.always_bytes(profile::kStringTable, "");
  EXPECT_THAT(error_of(out.view()), HasSubstr("0 values for 300000 sample types"));
}

TEST(PprofDetection, KnowsItsOwn) {
  const std::string bytes = FileBuilder::small().finish();
  EXPECT_TRUE(looks_like_pprof(bytes));
  EXPECT_TRUE(looks_like_pprof(bytes.substr(0, bytes.size() / 2)));
}

// OTLP: field 1 holds resources with messages inside, field 2 the dictionary.
TEST(PprofDetection, LeavesOtlpAlone) {
  WireWriter resource;
  resource.always_bytes(1, "\x0A\x03key");
  WireWriter resource_profiles;
  resource_profiles.message(1, resource);
  resource_profiles.always_bytes(2, "");
  WireWriter dictionary;
  dictionary.always_bytes(1, "");
  dictionary.always_bytes(5, "");
  WireWriter out;
  out.message(1, resource_profiles);
  out.message(2, dictionary);
  EXPECT_FALSE(looks_like_pprof(out.view()));
  EXPECT_FALSE(looks_like_pprof(out.view().substr(0, out.view().size() - 1)));
  WireWriter only_dictionary;
  only_dictionary.message(2, dictionary);
  EXPECT_FALSE(looks_like_pprof(only_dictionary.view()));
}

}  // namespace
}  // namespace vesta::pprof
