#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/common/losses.h"
#include "formats/speedscope/reader.h"
#include "formats/speedscope/writer.h"
#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"

namespace vesta {
namespace {

using test::rows;
using testing::HasSubstr;

constexpr std::string_view kFrames =
    R"("shared":{"frames":[{"name":"a","file":"a.c","line":3,"col":7},{"name":"b"},{"name":"c"}]})";

std::string document(std::string_view profiles, std::string_view shared = kFrames) {
  return std::string(R"({"$schema":"https://www.speedscope.app/file-format-schema.json",)") +
         R"("exporter":"test","unknown":{"x":[1,{}]},"profiles":[)" + std::string(profiles) + "]," +
         std::string(shared) + "}";
}

std::string sampled(std::string_view unit, std::string_view samples, std::string_view weights,
                    std::string_view name = "t") {
  return R"({"type":"sampled","name":")" + std::string(name) + R"(","unit":")" + std::string(unit) +
         R"(","startValue":0,"endValue":14,"samples":)" + std::string(samples) + R"(,"weights":)" +
         std::string(weights) + "}";
}

std::string evented(std::string_view unit, std::string_view events) {
  return R"({"type":"evented","name":"t","unit":")" + std::string(unit) +
         R"(","startValue":0,"endValue":14,"events":)" + std::string(events) + "}";
}

ProfileBatch read_ok(std::string_view text, const ReadOptions& options = {}) {
  auto batch = read_speedscope(text, options);
  EXPECT_TRUE(batch.ok()) << batch.error().message;
  if (!batch) return {};
  EXPECT_EQ(find_inconsistency(*batch), "");
  return std::move(*batch);
}

std::string error_of(std::string_view text, const ReadOptions& options = {}) {
  const auto batch = read_speedscope(text, options);
  return batch.ok() ? "no error" : batch.error().message;
}

TEST(Speedscope, ReadsSampledProfiles) {
  const ProfileBatch batch =
      read_ok(document(sampled("milliseconds", "[[0,1],[0,2],[0,1],[]]", "[1,2,3,4]")));
  ASSERT_EQ(batch.profiles.size(), 1u);
  EXPECT_THAT(rows(batch), testing::ElementsAre("a;b 4000000", "a;c 2000000", " 4000000"));
  const Profile& profile = batch.profiles[0];
  EXPECT_EQ(batch.dictionary.string(profile.sample_types[0].unit), "nanoseconds");
  EXPECT_EQ(profile.duration_ns, 14'000'000);
  const auto labels = batch.dictionary.label_sets[profile.samples.label_set(0)];
  ASSERT_EQ(labels.size(), 1u);
  EXPECT_EQ(batch.dictionary.string(labels[0].key), "profile_name");
  EXPECT_EQ(batch.dictionary.string(labels[0].text), "t");
  const LocationId a = batch.dictionary.stacks[profile.samples.stacks[0]][1];
  const Line& line = batch.dictionary.lines[a][0];
  EXPECT_EQ(line.line, 3);
  EXPECT_EQ(line.column, 7u);
  EXPECT_EQ(batch.dictionary.string(batch.dictionary.function(line.function).file), "a.c");
}

TEST(Speedscope, ReadsEventedProfiles) {
  const ProfileBatch batch = read_ok(document(
      evented("nanoseconds", R"([{"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":2},
      {"at":5,"frame":1,"type":"C"},{"type":"C","frame":0,"at":9},
      {"type":"O","frame":1,"at":20},{"type":"C","frame":1,"at":21}])")));
  // a alone 0..2 and 5..9, b under a 2..5, nothing 9..20, b 20..21
  EXPECT_THAT(rows(batch), testing::ElementsAre("a 6", "a;b 3", "b 1"));
}

TEST(Speedscope, KeepsWhatFractionsAddUpTo) {
  std::string samples = "[";
  std::string weights = "[";
  for (int i = 0; i < 1000; ++i) {
    samples += i == 0 ? "[0]" : ",[0]";
    weights += i == 0 ? "0.3" : ",0.3";
  }
  const auto total = [&](std::string_view unit) {
    return total_of(read_ok(document(sampled(unit, samples + "]", weights + "]"))).profiles[0], 0);
  };
  EXPECT_EQ(total("none"), 300);
  EXPECT_EQ(total("nanoseconds"), 300);
  EXPECT_EQ(total("bytes"), 300);
  EXPECT_EQ(total("seconds"), 300'000'000'000);
}

TEST(Speedscope, KeepsLargeIntegersExact) {
  const ProfileBatch batch =
      read_ok(document(sampled("nanoseconds", "[[0]]", "[9007199254740993]")));
  EXPECT_EQ(total_of(batch.profiles[0], 0), 9007199254740993);
}

TEST(Speedscope, MakesOneProfilePerKindOfUnit) {
  const std::string text = document(sampled("seconds", "[[0]]", "[1]", "one") + "," +
                                    sampled("bytes", "[[1]]", "[5]", "two") + "," +
                                    sampled("microseconds", "[[0]]", "[7]", "three") + "," +
                                    sampled("none", "[[2]]", "[9]", ""));
  const ProfileBatch batch = read_ok(text);
  ASSERT_EQ(batch.profiles.size(), 3u);
  EXPECT_EQ(total_of(batch.profiles[0], 0), 1'000'007'000);
  EXPECT_EQ(batch.profiles[0].samples.size(), 2u);  // same stack, different profile_name
  EXPECT_EQ(total_of(batch.profiles[1], 0), 5);
  EXPECT_EQ(batch.dictionary.string(batch.profiles[1].sample_types[0].unit), "bytes");
  EXPECT_EQ(total_of(batch.profiles[2], 0), 9);
  EXPECT_EQ(batch.dictionary.string(batch.profiles[2].sample_types[0].unit), "count");
}

TEST(Speedscope, RefusesBrokenEventOrders) {
  const auto error = [](std::string_view events) {
    return error_of(document(evented("none", events)));
  };
  EXPECT_THAT(error(R"([{"type":"C","frame":0,"at":0}])"),
              HasSubstr("profiles[0].events[0]: closes frame 0 while none is open"));
  EXPECT_THAT(error(R"([{"type":"O","frame":0,"at":0},{"type":"C","frame":1,"at":0}])"),
              HasSubstr("profiles[0].events[1]: closes frame 1 while frame 0 is on top"));
  EXPECT_THAT(error(R"([{"type":"O","frame":0,"at":5},{"type":"C","frame":0,"at":4}])"),
              HasSubstr("profiles[0].events[1].at: 4 is before the event at 5"));
  EXPECT_THAT(error(R"([{"type":"O","frame":0,"at":5}])"),
              HasSubstr("1 frames are still open after event 0"));
  EXPECT_THAT(error(R"([{"type":"O","frame":3,"at":5}])"),
              HasSubstr("profiles[0].events[0].frame: not the index of one of the 3 frames"));
  EXPECT_THAT(error(R"([{"type":"X","frame":0,"at":5}])"), HasSubstr("events[0].type"));
  EXPECT_THAT(error(R"([{"frame":0,"at":5}])"), HasSubstr("events[0].type: missing"));
  EXPECT_THAT(error(R"([{"type":"O","at":5}])"), HasSubstr("events[0].frame: missing"));
  EXPECT_THAT(error(R"([{"type":"O","frame":0}])"), HasSubstr("events[0].at: missing"));
  EXPECT_THAT(error(R"([7])"), HasSubstr("events[0]: not an object"));
}

TEST(Speedscope, RefusesBrokenSamples) {
  const auto error = [](std::string_view samples, std::string_view weights) {
    return error_of(document(sampled("none", samples, weights)));
  };
  EXPECT_THAT(error("[[0],[0,3]]", "[1,2]"), HasSubstr("profiles[0].samples[1][1]: not the index"));
  EXPECT_THAT(error("[[-1]]", "[1]"), HasSubstr("samples[0][0]: not the index"));
  EXPECT_THAT(error("[[0.5]]", "[1]"), HasSubstr("samples[0][0]: not the index"));
  EXPECT_THAT(error("[[0],[0]]", "[1]"), HasSubstr("samples[1]: there are only 1 weights"));
  EXPECT_THAT(error("[[0]]", "[1,2]"), HasSubstr("2 weights for 1 samples"));
  EXPECT_THAT(error("[[0]]", "[\"x\"]"), HasSubstr("weights[0]: not a number"));
  EXPECT_THAT(error("[[0]]", "[1e300]"), HasSubstr("weights[0]: the value overflows 64 bits"));
  EXPECT_THAT(error("[[0]]", "[18446744073709551615]"), HasSubstr("weights[0]: not a number"));
  EXPECT_THAT(error("[0]", "[1]"), HasSubstr("samples[0]: not an array"));
  EXPECT_THAT(error("{}", "[1]"), HasSubstr("samples: not an array"));
}

TEST(Speedscope, RefusesBrokenHeaders) {
  EXPECT_THAT(error_of(document(sampled("hours", "[]", "[]"))),
              HasSubstr("profiles[0].unit: unknown unit"));
  EXPECT_THAT(error_of(document(R"({"type":"graph","unit":"none"})")),
              HasSubstr("unknown type \"graph\""));
  EXPECT_THAT(error_of(document(R"({"unit":"none"})")), HasSubstr("profiles[0].type: missing"));
  EXPECT_THAT(error_of(document(R"({"type":"sampled"})")), HasSubstr("profiles[0].unit: missing"));
  EXPECT_THAT(error_of(document(R"({"type":"sampled","unit":"none","weights":[]})")),
              HasSubstr("profiles[0].samples: missing"));
  EXPECT_THAT(error_of(document("")), HasSubstr("profiles: empty"));
  EXPECT_THAT(error_of(document("3")), HasSubstr("profiles[0]: not an object"));
  EXPECT_THAT(error_of(document(sampled("none", "[]", "[]"), R"("shared":{})")),
              HasSubstr("shared.frames: missing"));
  EXPECT_THAT(error_of(document(sampled("none", "[]", "[]"), R"("x":{})")),
              HasSubstr("shared: missing"));
  EXPECT_THAT(error_of(document(sampled("none", "[]", "[]"), R"("shared":{"frames":[{}]})")),
              HasSubstr("shared.frames[0].name: missing"));
  EXPECT_THAT(error_of(R"({"profiles":[],"shared":{"frames":[]}})"), HasSubstr("$schema"));
  EXPECT_THAT(error_of(R"({"$schema":"https://example.org/x"})"), HasSubstr("$schema: must be"));
  EXPECT_THAT(error_of("[1]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_of(""), HasSubstr("speedscope: "));
  EXPECT_THAT(error_of("main;a 3\n"), HasSubstr("speedscope: "));
}

TEST(Speedscope, EveryPrefixIsAnError) {
  const std::string text =
      document(sampled("none", "[[0,1]]", "[2.5]") + "," +
               evented("none", R"([{"type":"O","frame":0,"at":0},{"type":"C","frame":0,"at":2}])"));
  ASSERT_EQ(error_of(text), "no error");
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_THAT(error_of(text.substr(0, size)), HasSubstr("speedscope: ")) << size;
  }
}

TEST(Speedscope, ToleratesNullAndByteOrderMark) {
  const std::string shared =
      R"("shared":{"frames":[{"name":"x","file":null,"line":null,"col":null},{"name":"y","line":2.0}]})";
  EXPECT_THAT(rows(read_ok("\xEF\xBB\xBF" + document(sampled("none", "[[0,1]]", "[2]"), shared))),
              testing::ElementsAre("x;y 2"));
}

TEST(Speedscope, RepairsNames) {
  ReadOptions options;
  options.max_string_bytes = 4;
  options.max_stack_depth = 1;
  const std::string shared = "\"shared\":{\"frames\":[{\"name\":\"a\xff\"},{\"name\":\"longer\"}]}";
  const ProfileBatch batch =
      read_ok(document(sampled("none", "[[0,1],[0]]", "[2,3]"), shared), options);
  EXPECT_THAT(rows(batch), testing::ElementsAre("long 2", "a\xEF\xBF\xBD 3"));
  std::vector<std::string> losses;
  for (const Loss& loss : batch.profiles[0].losses) {
    losses.push_back(std::string(batch.dictionary.string(loss.reason)) + " " +
                     std::to_string(loss.count));
  }
  EXPECT_THAT(losses, testing::UnorderedElementsAre("name truncated 1", "stack truncated 1",
                                                    "invalid UTF-8 replaced 1"));
}

TEST(Speedscope, KeepsNegativeWeightsAndSaysSo) {
  const ProfileBatch batch = read_ok(document(sampled("none", "[[0],[1]]", "[-2,3]")));
  EXPECT_THAT(rows(batch), testing::ElementsAre("a -2", "b 3"));
  ASSERT_EQ(batch.profiles[0].losses.size(), 1u);
  EXPECT_EQ(batch.dictionary.string(batch.profiles[0].losses[0].reason), kLossNegative);
  EXPECT_EQ(batch.profiles[0].losses[0].count, 1u);
}

TEST(Speedscope, HonoursLimits) {
  ReadOptions options;
  options.max_samples = 1;
  EXPECT_THAT(error_of(document(sampled("none", "[[0],[1]]", "[2,3]")), options),
              HasSubstr("limit of 1"));
  options = {};
  options.max_decoded_bytes = 10;
  EXPECT_THAT(error_of(document(sampled("none", "[[0]]", "[2]")), options),
              HasSubstr("limit of 10"));
  options = {};
  options.allow_negative = true;
  EXPECT_THAT(rows(read_ok(document(sampled("none", "[[0]]", "[-2]")), options)),
              testing::ElementsAre("a -2"));
}

TEST(Speedscope, BoundsTheMemoryOfDeepTraces) {
  std::string events = "[";
  for (int i = 0; i < 5000; ++i) {
    events += R"({"type":"O","frame":0,"at":)" + std::to_string(i) + "},";
  }
  events.back() = ']';
  // 5000 stacks of up to 4096 frames are 12 million frames, from 150 kB.
  EXPECT_THAT(error_of(document(evented("none", events))), HasSubstr("number of frames"));
}

TEST(Speedscope, SurvivesDeepNesting) {
  const std::string deep(100'000, '[');
  EXPECT_THAT(error_of(document(deep)), HasSubstr("speedscope: "));
  EXPECT_THAT(error_of(document(R"({"x":)" + deep)), HasSubstr("speedscope: "));
}

TEST(Speedscope, WritesWhatItReads) {
  const std::string text = document(sampled("microseconds", "[[0,1],[0]]", "[2,3]") + "," +
                                    sampled("bytes", "[[1,2]]", "[5]"));
  const ProfileBatch batch = read_ok(text);
  const std::string written = write_speedscope(batch, "title");
  EXPECT_TRUE(looks_like_speedscope(written));
  EXPECT_EQ(
      written,
      R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"vesta",)"
      R"("name":"title","activeProfileIndex":0,"profiles":[{"type":"sampled","name":"time",)"
      R"("unit":"nanoseconds","startValue":0,"endValue":5000,"samples":[[0,1],[0]],)"
      R"("weights":[2000,3000]},{"type":"sampled","name":"space","unit":"bytes","startValue":0,)"
      R"("endValue":5,"samples":[[1,2]],"weights":[5]}],"shared":{"frames":[)"
      R"({"name":"a","file":"a.c","line":3,"col":7},{"name":"b"},{"name":"c"}]}})");
  const ProfileBatch again = read_ok(written);
  EXPECT_EQ(rows(again, 0), rows(batch, 0));
  EXPECT_EQ(rows(again, 1), rows(batch, 1));
}

TEST(Speedscope, WritesEveryTypeAndNamesTheDefault) {
  ProfileBatch batch;
  DictionaryBuilder builder(batch.dictionary);
  Profile profile;
  profile.name = builder.string("process_cpu");
  profile.sample_types = {{builder.string("samples"), builder.string("count")},
                          {builder.string("cpu"), builder.string("ms")},
                          {builder.string("wait"), builder.string("minutes")}};
  profile.default_type = 1;
  const std::vector<Line> inlined = {{builder.function("in"), 0, 1},
                                     {builder.function("out"), 0, 2}};
  const LocationId location = builder.location({0x10, {}, FrameKind::kNative, false}, inlined);
  profile.add_sample(builder.stack({&location, 1}), std::vector<int64_t>{1, 0, 2});
  batch.profiles.push_back(profile);
  const std::string written = write_speedscope(batch);
  EXPECT_THAT(written, HasSubstr(R"("activeProfileIndex":1)"));
  EXPECT_THAT(written, HasSubstr(R"("name":"process_cpu samples","unit":"none")"));
  EXPECT_THAT(written, HasSubstr(R"("samples":[[0,1]],"weights":[1])"));
  EXPECT_THAT(
      written,
      HasSubstr(
          R"("name":"process_cpu cpu","unit":"milliseconds","startValue":0,"endValue":0,"samples":[],"weights":[])"));
  EXPECT_THAT(written, HasSubstr(R"("unit":"seconds","startValue":0,"endValue":120)"));
  EXPECT_THAT(written, HasSubstr(R"([{"name":"out","line":2},{"name":"in","line":1}])"));
  EXPECT_EQ(read_ok(written).profiles.size(), 2u);
}

TEST(Speedscope, IsToldFromOtherJson) {
  EXPECT_TRUE(looks_like_speedscope(document("")));
  EXPECT_FALSE(looks_like_speedscope(R"({"flamebearer":{}})"));
  EXPECT_FALSE(looks_like_speedscope("https://www.speedscope.app/file-format-schema.json"));
  EXPECT_FALSE(looks_like_speedscope(""));
}

}  // namespace
}  // namespace vesta
