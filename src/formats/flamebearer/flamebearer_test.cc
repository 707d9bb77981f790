#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/flamebearer/reader.h"
#include "formats/flamebearer/writer.h"
#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"

namespace vesta {
namespace {

using test::rows;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr std::string_view kSingle =
    R"("format":"single","units":"samples","sampleRate":100,"name":"n")";
constexpr std::string_view kDouble =
    R"("format":"double","units":"bytes","sampleRate":100,"name":"n")";

std::string document(std::string_view levels, std::string_view more = "",
                     std::string_view metadata = kSingle) {
  return R"({"version":1,"flamebearer":{"names":["total","a","b","c"],"levels":)" +
         std::string(levels) + std::string(more) + R"(},"metadata":{)" + std::string(metadata) +
         R"(},"heatmap":null,"timeline":null,"groups":{"x":[1,{}]}})";
}

ProfileBatch read_ok(std::string_view text, const ReadOptions& options = {}) {
  auto batch = read_flamebearer(text, options);
  EXPECT_TRUE(batch.ok()) << batch.error().message;
  if (!batch) return {};
  EXPECT_EQ(find_inconsistency(*batch), "");
  return std::move(*batch);
}

std::string error_of(std::string_view text, const ReadOptions& options = {}) {
  const auto batch = read_flamebearer(text, options);
  return batch.ok() ? "no error" : batch.error().message;
}

ProfileBatch batch_of(const std::vector<std::pair<std::vector<std::string>, int64_t>>& stacks,
                      std::string_view type = "samples", std::string_view unit = "count") {
  ProfileBatch batch;
  DictionaryBuilder builder(batch.dictionary);
  Profile profile;
  profile.name = builder.string("family");
  profile.sample_types.push_back({builder.string(type), builder.string(unit)});
  for (const auto& [names, value] : stacks) {
    std::vector<LocationId> stack;
    for (size_t at = names.size(); at-- > 0;) stack.push_back(builder.frame(names[at]));
    profile.add_sample(builder.stack(stack), std::span<const int64_t>(&value, 1));
  }
  batch.profiles.push_back(profile);
  return batch;
}

TEST(Flamebearer, ReadsBarsAsStacks) {
  //           total(10, self 1)
  //  a(6, self 2)      b(3, self 3)
  //    c(4)
  const ProfileBatch batch = read_ok(
      document("[[0,10,1,0],[1,6,2,1,0,3,3,2],[3,4,4,3]]", R"(,"numTicks":10,"maxSelf":4)"));
  EXPECT_THAT(rows(batch), UnorderedElementsAre(" 1", "a 2", "b 3", "a;c 4"));
  const Profile& profile = batch.profiles[0];
  EXPECT_EQ(batch.dictionary.string(profile.name), "n");
  EXPECT_EQ(batch.dictionary.string(profile.sample_types[0].type), "samples");
  EXPECT_EQ(batch.dictionary.string(profile.sample_types[0].unit), "count");
  EXPECT_EQ(profile.period, 10'000'000);
  EXPECT_EQ(batch.dictionary.string(profile.period_type.unit), "nanoseconds");
}

TEST(Flamebearer, ReadsComparisonsAsTwoTypes) {
  const ProfileBatch batch =
      read_ok(document("[[0,10,0,0,5,0,0],[0,6,6,0,0,0,1,0,4,1,0,5,5,2],[7,3,3,0,0,0,3]]",
                       R"(,"numTicks":15)", kDouble));
  EXPECT_THAT(rows(batch), UnorderedElementsAre("a 6 0", "b 1 5", "b;c 3 0"));
  EXPECT_EQ(batch.dictionary.string(batch.profiles[0].sample_types[0].type), "left");
  EXPECT_EQ(batch.dictionary.string(batch.profiles[0].sample_types[1].type), "right");
  EXPECT_EQ(batch.dictionary.string(batch.profiles[0].sample_types[1].unit), "bytes");
}

TEST(Flamebearer, KeepsWhatWasCutOff) {
  const ProfileBatch batch = read_ok(document("[[0,10,0,0],[0,6,2,1]]"));
  EXPECT_THAT(rows(batch), UnorderedElementsAre("[truncated] 4", "a 2", "a;[truncated] 4"));
}

TEST(Flamebearer, ReadsUnits) {
  const auto type = [](std::string_view units, std::string_view rate) {
    const ProfileBatch batch = read_ok(document(
        "[]", "", R"("units":")" + std::string(units) + R"(","sampleRate":)" + std::string(rate)));
    const SampleType& t = batch.profiles[0].sample_types[0];
    return std::string(batch.dictionary.string(t.type)) + ":" +
           std::string(batch.dictionary.string(t.unit));
  };
  EXPECT_EQ(type("samples", "100"), "samples:count");
  EXPECT_EQ(type("samples", "1000000000"), "cpu:nanoseconds");
  EXPECT_EQ(type("bytes", "100"), "space:bytes");
  EXPECT_EQ(type("objects", "100"), "objects:count");
  EXPECT_EQ(type("lock_nanoseconds", "100"), "delay:nanoseconds");
  EXPECT_EQ(type("nanoseconds", "100"), "time:nanoseconds");
  EXPECT_EQ(type("", "0"), "samples:count");
}

TEST(Flamebearer, ReadsTimesAndOldLayouts) {
  const ProfileBatch batch = read_ok(
      R"({"timeline":{"startTime":1700000000,"samples":[1,2,3],"durationDelta":10},)"
      R"("flamebearer":{"levels":[[0,4,4,0]],"format":"single","units":"bytes","names":["total"],"numTicks":4.0}})");
  EXPECT_EQ(batch.profiles[0].time_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(batch.profiles[0].duration_ns, 30'000'000'000);
  EXPECT_THAT(rows(batch), UnorderedElementsAre(" 4"));
}

TEST(Flamebearer, EmptyGraphsHaveNoSamples) {
  EXPECT_EQ(read_ok(document("[]")).profiles[0].samples.size(), 0u);
  EXPECT_EQ(read_ok(document("[[0,0,0,0]]")).profiles[0].samples.size(), 0u);
  EXPECT_EQ(read_ok(document("[[]]")).profiles[0].samples.size(), 0u);
}

TEST(Flamebearer, RefusesBrokenLevels) {
  const auto error = [](std::string_view levels) { return error_of(document(levels)); };
  EXPECT_THAT(error("[[0,10,1,9]]"), HasSubstr("levels[0][3]: 9 is not the index"));
  EXPECT_THAT(error("[[0,10,1,-1]]"), HasSubstr("levels[0][3]: -1 is not the index"));
  EXPECT_THAT(error("[[0,10,1]]"), HasSubstr("levels[0]: 3 numbers, which is not a multiple of 4"));
  EXPECT_THAT(error("[[0,10,0,0],[-1,3,0,1]]"), HasSubstr("levels[1][0]: negative offset"));
  EXPECT_THAT(error("[[0,-10,0,0]]"), HasSubstr("levels[0][1]: negative total"));
  EXPECT_THAT(error("[[0,10,-1,0]]"), HasSubstr("levels[0][2]: negative self"));
  EXPECT_THAT(error("[[0,10,11,0]]"), HasSubstr("levels[0][2]: self value larger"));
  EXPECT_THAT(error("[[0,10,0,0,0,10,0,1]]"), HasSubstr("levels[0][4]: the first level"));
  EXPECT_THAT(error("[[0,10,0,0],[0,11,0,1]]"), HasSubstr("levels[1][0]: the bar lies outside"));
  EXPECT_THAT(error("[[0,10,0,0],[0,4,0,1,0,4,0,2],[3,2,0,3]]"),
              HasSubstr("levels[2][0]: the bar does not lie inside one bar"));
  EXPECT_THAT(error("[[0,10,5,0],[0,6,0,1]]"), HasSubstr("levels[0][2]: self value and children"));
  EXPECT_THAT(error("[[0,10,0,0],[],[0,1,0,1]]"), HasSubstr("levels[2][0]: the bar lies outside"));
  EXPECT_THAT(error("[[9223372036854775807,1,0,0]]"), HasSubstr("overflow 64 bits"));
  EXPECT_THAT(error("[[0,1.5,0,0]]"), HasSubstr("levels[0][1]: not a whole number"));
  EXPECT_THAT(error("[[0,\"x\",0,0]]"), HasSubstr("levels[0][1]: not a whole number"));
  EXPECT_THAT(error("[3]"), HasSubstr("levels[0]: not an array"));
  EXPECT_THAT(error("{}"), HasSubstr("flamebearer.levels: not an array"));
  EXPECT_THAT(error_of(document("[[0,10,0,0]]", R"(,"numTicks":11)")),
              HasSubstr("numTicks: 11, but the bars add up to 10"));
  EXPECT_THAT(error_of(document("[[0,1,0,0,1,0,0],[0,1,1,1,1,1,1]]", "", kDouble)),
              HasSubstr("levels[1][0]: the bar lies outside"));
}

TEST(Flamebearer, RefusesBrokenHeaders) {
  EXPECT_THAT(error_of(R"({"version":2,"flamebearer":{}})"), HasSubstr("version: unknown"));
  EXPECT_THAT(error_of(R"({"flamebearer":{"names":[]}})"), HasSubstr("levels: missing"));
  EXPECT_THAT(error_of(R"({"flamebearer":{"levels":[]}})"), HasSubstr("names: missing"));
  EXPECT_THAT(error_of(R"({"flamebearer":{"names":[1],"levels":[]}})"), HasSubstr("names[0]"));
  EXPECT_THAT(error_of(R"({"flamebearer":7})"), HasSubstr("flamebearer: not an object"));
  EXPECT_THAT(error_of(R"({"x":7})"), HasSubstr("flamebearer: missing"));
  EXPECT_THAT(error_of(document("[]", "", R"("format":"triple")")), HasSubstr("metadata.format"));
  EXPECT_THAT(error_of(document("[]", "", R"("sampleRate":-1)")), HasSubstr("sampleRate"));
  EXPECT_THAT(error_of("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_of(""), HasSubstr("flamebearer: "));
  EXPECT_THAT(error_of("main;a 3\n"), HasSubstr("flamebearer: "));
}

TEST(Flamebearer, EveryPrefixIsAnError) {
  const std::string text =
      document("[[0,10,1,0],[1,6,2,1,0,3,3,2],[3,4,4,3]]", R"(,"numTicks":10,"maxSelf":4)");
  ASSERT_EQ(error_of(text), "no error");
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_THAT(error_of(text.substr(0, size)), HasSubstr("flamebearer: ")) << size;
  }
}

TEST(Flamebearer, RepairsAndCuts) {
  ReadOptions options;
  options.max_string_bytes = 4;
  options.max_stack_depth = 1;
  const ProfileBatch batch = read_ok(
      "{\"flamebearer\":{\"names\":[\"total\",\"a\xff\",\"longer\"],\"levels\":[[0,2,0,0],[0,2,1,1]"
      ",[1,1,1,2]]}}",
      options);
  EXPECT_THAT(rows(batch), UnorderedElementsAre("a\xEF\xBF\xBD 1", "long 1"));
  EXPECT_EQ(batch.profiles[0].losses.size(), 3u);
}

TEST(Flamebearer, BoundsTheMemoryOfDeepGraphs) {
  std::string levels = "[[0,9000,0,0]";
  for (int depth = 0; depth < 8000; ++depth) {
    levels += ",[" + std::to_string(depth) + "," + std::to_string(9000 - depth) + ",1,1]";
  }
  EXPECT_THAT(error_of(document(levels + "]")), HasSubstr("number of frames in all stacks"));
}

TEST(Flamebearer, HonoursLimits) {
  ReadOptions options;
  options.max_samples = 1;
  EXPECT_THAT(error_of(document("[[0,10,1,0],[1,6,6,1]]"), options), HasSubstr("limit of 1"));
  options = {};
  options.max_decoded_bytes = 10;
  EXPECT_THAT(error_of(document("[]"), options), HasSubstr("limit of 10"));
}

TEST(Flamebearer, WritesSortedLevels) {
  const ProfileBatch batch = batch_of({{{"b"}, 3}, {{"a", "c"}, 4}, {{"a"}, 2}, {{}, 1}});
  const std::string written = write_flamebearer(batch);
  EXPECT_EQ(
      written,
      R"({"version":1,"flamebearer":{"names":["total","a","b","c"],)"
      R"("levels":[[0,10,1,0],[1,6,2,1,0,3,3,2],[3,4,4,3]],"numTicks":10,"maxSelf":4},"metadata":{)"
      R"("format":"single","spyName":"","sampleRate":100,"units":"samples","name":"family","appName":""}})");
  EXPECT_TRUE(looks_like_flamebearer(written));
  EXPECT_THAT(rows(read_ok(written)), UnorderedElementsAre("b 3", "a;c 4", "a 2", " 1"));
}

TEST(Flamebearer, OffsetsSkipWhatHasNoChildren) {
  // b's child d starts after a, which has no child.
  const std::string written =
      write_flamebearer(batch_of({{{"a"}, 5}, {{"b", "d"}, 2}, {{"b"}, 1}}));
  EXPECT_THAT(written, HasSubstr(R"("levels":[[0,8,0,0],[0,5,5,1,0,3,1,2],[6,2,2,3]])"));
}

TEST(Flamebearer, WordsUnitsAsPyroscopeDoes) {
  const auto words = [](std::string_view type, std::string_view unit) {
    return write_flamebearer(batch_of({{{"a"}, 1}}, type, unit));
  };
  EXPECT_THAT(words("cpu", "nanoseconds"),
              HasSubstr(R"("sampleRate":1000000000,"units":"samples")"));
  EXPECT_THAT(words("inuse_space", "bytes"), HasSubstr(R"("units":"bytes")"));
  EXPECT_THAT(words("alloc_objects", "count"), HasSubstr(R"("units":"objects")"));
  EXPECT_THAT(words("delay", "nanoseconds"), HasSubstr(R"("units":"nanoseconds")"));
}

TEST(Flamebearer, NothingMakesAnEmptyGraph) {
  EXPECT_THAT(write_flamebearer({}),
              HasSubstr(R"("names":["total"],"levels":[[0,0,0,0]],"numTicks":0)"));
  EXPECT_EQ(read_ok(write_flamebearer({})).profiles[0].samples.size(), 0u);
}

TEST(Flamebearer, IsToldFromOtherJson) {
  EXPECT_TRUE(looks_like_flamebearer(document("[]")));
  EXPECT_FALSE(looks_like_flamebearer(R"({"profiles":[]})"));
  EXPECT_FALSE(looks_like_flamebearer("flamebearer"));
  EXPECT_FALSE(looks_like_flamebearer(""));
}

}  // namespace
}  // namespace vesta
