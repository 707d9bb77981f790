#include "profile/frame_profile.h"

#include <gtest/gtest.h>

#include "profile/dictionary_builder.h"
#include "profile/source_path.h"
#include "profile/test_profiles.h"

namespace vesta {
namespace {

using test::batch_from;
using test::folded;
using test::frames;
using Folded = std::map<std::string, int64_t>;

// One stack of three locations: with two lines, with one, and with none.
ProfileBatch addresses() {
  ProfileBatch batch = batch_from({});
  DictionaryBuilder b(batch.dictionary);
  Mapping app;
  app.file = b.string("/usr/bin/app");
  app.limit = 0x1000;
  Location l;
  l.mapping = b.mapping(app);
  const auto add = [&](uint64_t address, std::vector<Line> lines) {
    l.address = address;
    return b.location(l, lines);
  };
  const FunctionId outer = b.function("outer", "dir/a.cc");
  const FunctionId inner = b.function("inner", "dir/a.cc");
  const std::vector<LocationId> stack = {add(0x30, {}), add(0x20, {{outer, 0, 7}}),
                                         add(0x10, {{inner, 5, 3}, {outer, 0, 4}})};
  const int64_t value = 1;
  batch.profiles[0].add_sample(b.stack(stack), std::span<const int64_t>(&value, 1));
  return batch;
}

TEST(FrameProfileTest, GranularityDecidesWhatIsOneFrame) {
  const auto at = [](Granularity granularity) {
    return folded(frames(addresses(), {granularity, {}})).begin()->first;
  };
  EXPECT_EQ(at(Granularity::kFunction), "outer;inner;outer;[app]");
  EXPECT_EQ(at(Granularity::kFile), "dir/a.cc;dir/a.cc;dir/a.cc;[app]");
  EXPECT_EQ(at(Granularity::kLine), "outer dir/a.cc:4;inner dir/a.cc:3;outer dir/a.cc:7;[app]");
  EXPECT_EQ(at(Granularity::kAddress),
            "0000000000000010 outer dir/a.cc:4;0000000000000010 inner dir/a.cc:3:5;"
            "0000000000000020 outer dir/a.cc:7;0000000000000030 [app]");
  EXPECT_EQ(frames(addresses(), {Granularity::kFile, {}}).frames.size(), 3u);
}

TEST(FrameProfileTest, EqualTextsAreOneFrameWhateverTheirIds) {
  ProfileBatch batch;
  Dictionary& d = batch.dictionary;
  Profile p;
  p.sample_types.push_back({d.strings.add("cpu"), d.strings.add("nanoseconds")});
  const int64_t value = 1;
  for (const std::string_view file : {"./src/a.cc", "src/x/../a.cc"}) {
    Function f;
    f.name = d.strings.add("main");
    f.file = d.strings.add(file);
    d.functions.push_back(f);
    const Line line{FunctionId(d.functions.size() - 1), 0, 3};
    const LocationId location = d.add_location({}, std::span<const Line>(&line, 1));
    p.add_sample(d.stacks.add(std::span<const LocationId>(&location, 1)),
                 std::span<const int64_t>(&value, 1));
  }
  batch.profiles.push_back(p);
  EXPECT_EQ(folded(frames(batch, {Granularity::kLine, {}})), (Folded{{"main src/a.cc:3", 2}}));
}

TEST(FrameProfileTest, FramesWithoutNamesAreNamedByWhatIsKnown) {
  ProfileBatch batch = batch_from({});
  DictionaryBuilder b(batch.dictionary);
  Function mangled;
  mangled.system_name = b.string("_Z4workv");
  Function only_file;
  only_file.file = b.string("a.cc");
  const Line lines[] = {{b.function(mangled), 0, 0},
                        {b.function(only_file), 0, 9},
                        {FunctionId(), 0, 12},
                        {b.function("named"), 0, 5}};
  const int64_t value = 1;
  const LocationId location = b.location({}, lines);
  batch.profiles[0].add_sample(b.stack(std::span<const LocationId>(&location, 1)),
                               std::span<const int64_t>(&value, 1));
  EXPECT_EQ(folded(frames(batch, {Granularity::kLine, {}})),
            (Folded{{"named :5;<unknown>;a.cc:9;_Z4workv", 1}}));
}

TEST(FrameProfileTest, TotalsOfADifferenceAreThoseOfItsBase) {
  const std::vector<std::pair<std::string_view, std::string_view>> base = {{"pprof::base", "true"}};
  EXPECT_EQ(frames(batch_from({{"a", 10}, {"a", -4, base}, {"b", -3, base}})).total, 7);
  EXPECT_EQ(frames(batch_from({{"a", 10}, {"a", -4}})).total, 14);
}

TEST(FrameProfileTest, SamplesWithoutWeightAreNotThere) {
  EXPECT_TRUE(frames(batch_from({{"a", 0}})).weights.empty());
}

TEST(SourcePathTest, PathsAreWrittenTheShortestWay) {
  std::string scratch;
  for (const auto& [path, clean] : std::vector<std::pair<std::string, std::string>>{
           {"", ""},
           {"a.cc", "a.cc"},
           {"/", "/"},
           {"//", "/"},
           {"./a.cc", "a.cc"},
           {"a/./b//c.cc", "a/b/c.cc"},
           {"a/../b.cc", "b.cc"},
           {"/../a.cc", "/a.cc"},
           {"../../a.cc", "../../a.cc"},
           {"a/..", "."},
           {"a/b/", "a/b"},
           {"..a/b..", "..a/b.."},
           {"/proc/self/cwd/src/a.cc", "src/a.cc"},
           {"/proc/self/cwd/./src/a.cc", "src/a.cc"},
       }) {
    EXPECT_EQ(clean_source_path(path, scratch), clean) << path;
  }
}

}  // namespace
}  // namespace vesta
