#include "query/selection_profile.h"

#include <gtest/gtest.h>

#include "formats/pprof/reader.h"
#include "formats/registry.h"
#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"
#include "query/coverage.h"
#include "query/heatmap.h"
#include "query/test_selection.h"
#include "query/type_words.h"

namespace vesta {
namespace {

TEST(SelectionProfile, KeepsInlinedFramesInTheirLocation) {
  const auto batch = test::batch_from({{"main;a>b>c;d", 3}, {"main;a>b", 4}});
  const ProfileBatch back = to_profile_batch(test::selection_from(batch));
  EXPECT_EQ(find_inconsistency(back), "");
  ASSERT_EQ(back.profiles.size(), 1U);
  EXPECT_EQ(test::meaning(back), test::meaning(batch));
  const auto stack = back.dictionary.stacks[back.profiles[0].samples.stacks[0]];
  ASSERT_EQ(stack.size(), 2U);  // main, a>b
  EXPECT_EQ(back.dictionary.lines[stack[0]].size(), 2U);
}

TEST(SelectionProfile, KeepsBuildIdsAndAddressesOfNamelessFrames) {
  ProfileBatch batch;
  DictionaryBuilder b(batch.dictionary);
  Mapping mapping;
  mapping.start = 0x400000;
  mapping.limit = 0x500000;
  mapping.file = b.string("/usr/bin/app");
  mapping.build_id = b.string("abc123");
  Location nameless;
  nameless.mapping = b.mapping(mapping);
  nameless.address = 0x412345;
  const std::vector<LocationId> stack = {b.location(nameless, {}), b.frame("main")};
  Profile profile;
  profile.name = b.string("process_cpu");
  profile.sample_types = {{b.string("cpu"), b.string("nanoseconds"), Temporality::kCumulative}};
  const int64_t value = 7;
  profile.add_sample(b.stack(stack), std::span(&value, 1));
  batch.profiles.push_back(profile);

  const Selection selection = test::selection_from(batch);
  const ProfileBatch back = to_profile_batch(selection);
  EXPECT_EQ(find_inconsistency(back), "");
  const Dictionary& d = back.dictionary;
  const auto kept = d.stacks[back.profiles[0].samples.stacks[0]];
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(d.location(kept[0]).address, 0x12345U);
  const Mapping& binary = d.mapping(d.location(kept[0]).mapping);
  EXPECT_EQ(d.string(binary.file), "/usr/bin/app");
  EXPECT_EQ(d.string(binary.build_id), "abc123");
  EXPECT_FALSE(binary.has_functions);
  EXPECT_GT(binary.limit, 0x12345U);

  const Coverage coverage = coverage_of(selection);
  EXPECT_EQ(coverage.named, 0);
  EXPECT_EQ(coverage.named_frames, 0.5);
  EXPECT_EQ(coverage.complete, 1);
  ASSERT_EQ(coverage.unnamed_binaries.size(), 1U);
  EXPECT_EQ(coverage.unnamed_binaries[0].path, "/usr/bin/app");
  EXPECT_EQ(coverage.unnamed_binaries[0].unnamed, 7);
}

TEST(SelectionProfile, NamesServicesWhenThereAreSeveral) {
  const auto one = test::batch_from({{"main;a", 1}});
  const auto two = test::batch_from({{"main;a", 2}, {"main;b", 4}});
  const Selection selection = test::selection_from({{"one", &one}, {"two", &two}});
  const ProfileBatch back = to_profile_batch(selection);
  ASSERT_EQ(back.profiles.size(), 2U);
  EXPECT_EQ(test::total_of_type(back, "cpu"), 7);
  EncodeOptions options;
  options.format = "pprof";
  const auto pprof = encode_for_path(back, "-", options);
  ASSERT_TRUE(pprof.ok());
  const auto again = read_profile(*pprof, "", {});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(test::total_of_type(*again, "cpu"), 7);
}

TEST(SelectionProfile, WritesAnEmptySelectionToo) {
  Selection nothing;
  nothing.type = *ProfileType::parse("process_cpu:cpu:nanoseconds:cpu:nanoseconds");
  const ProfileBatch batch = to_profile_batch(nothing);
  EXPECT_EQ(find_inconsistency(batch), "");
  ASSERT_EQ(batch.profiles.size(), 1U);
  EXPECT_EQ(to_merged_profile(nothing).type, "cpu");
}

TEST(Coverage, SeesMarksOfMissingFrames) {
  const auto batch = test::batch_from({{"main;a", 60},
                                       {"[truncated];b", 20},
                                       {"[incomplete: no table];c", 15},
                                       {"[lost: ring full]", 5}});
  const Coverage coverage = coverage_of(test::selection_from(batch));
  EXPECT_EQ(coverage.total, 100);
  EXPECT_EQ(coverage.complete, 0.6);
  EXPECT_EQ(coverage.named, 1);
  ASSERT_EQ(coverage.marks.size(), 3U);
  EXPECT_EQ(coverage.marks[0].name, "[truncated]");
  EXPECT_EQ(coverage.marks[0].weight, 20);
  EXPECT_EQ(coverage_of({}).complete, 1);
}

TEST(Coverage, CountsGuessedCallersAndPlaceNamesForWhatTheyAre) {
  ProfileBatch batch;
  DictionaryBuilder b(batch.dictionary);
  Mapping mapping;
  mapping.file = b.string("/lib/libz.so.1.2.13");
  Function place;
  place.name = b.string("libz.so.1.2.13+0x5840");
  const Line line{b.function(place), 0, 0};
  Location nameless;
  nameless.mapping = b.mapping(mapping);
  nameless.address = 0x5850;
  const std::vector<LocationId> stack = {b.location(nameless, std::span(&line, 1)),
                                         b.frame("[guessed caller]"), b.frame("main")};
  Profile profile;
  profile.name = b.string("process_cpu");
  profile.sample_types = {{b.string("cpu"), b.string("nanoseconds"), Temporality::kCumulative}};
  const int64_t value = 7;
  profile.add_sample(b.stack(stack), std::span(&value, 1));
  batch.profiles.push_back(profile);
  const Coverage coverage = coverage_of(test::selection_from(batch));
  EXPECT_EQ(coverage.complete, 1);
  EXPECT_EQ(coverage.named, 0);
  EXPECT_EQ(coverage.named_frames, 0.5);
  ASSERT_EQ(coverage.marks.size(), 1U);
  EXPECT_EQ(coverage.marks[0].name, "[guessed caller]");
  ASSERT_EQ(coverage.unnamed_binaries.size(), 1U);
}

TEST(Heatmap, CountsProfilesByTimeAndValue) {
  std::vector<ProfilePoint> points(4);
  points[0].time_ns = 0;
  points[0].value = 0;
  points[1].time_ns = 9;
  points[1].value = 100;
  points[2].time_ns = 25;
  points[2].value = 49;
  points[3].time_ns = 30;  // out of the range
  const auto map = value_heatmap(points, {{0, 30}, 10, 4});
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->columns, 3U);
  EXPECT_EQ(map->row_size, 25);
  EXPECT_EQ(map->cells, (std::vector<Heatmap::Cell>{{0, 0, 1}, {0, 3, 1}, {2, 1, 1}}));
  EXPECT_EQ(map->total, 3);
  EXPECT_EQ(map->left_out, 1);
}

TEST(Heatmap, FindsTheOffsetWithinAColumn) {
  ProfileBatch batch = test::batch_from({{"a", 1}, {"b", 2}, {"c", 4}});
  batch.profiles[0].samples.times_ns = {1'000'000'000, 1'250'000'000, 0};
  const auto map = offset_heatmap(batch, {{1'000'000'000, 3'000'000'000}, 1'000'000'000, 4});
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->cells, (std::vector<Heatmap::Cell>{{0, 0, 1}, {0, 1, 2}}));
  EXPECT_EQ(map->left_out, 4);
}

TEST(Heatmap, RefusesMoreCellsThanFit) {
  EXPECT_FALSE(check_shape({{0, 1'000'000'000}, 1, 10}).ok());
  EXPECT_FALSE(check_shape({kAllTime, 1'000'000'000, 1}).ok());
  EXPECT_FALSE(check_shape({{0, 10}, 0, 10}).ok());
  EXPECT_FALSE(check_shape({{0, 10}, 1, 0}).ok());
  EXPECT_TRUE(check_shape({{0, 10}, 1, 10}).ok());
}

TEST(TypeWords, FindWhatIsMeant) {
  const auto type = [](std::string_view id) { return *ProfileType::parse(id); };
  const std::vector<ProfileType> types = {type("block:delay:nanoseconds:contentions:count"),
                                          type("memory:alloc_space:bytes:space:bytes"),
                                          type("memory:inuse_space:bytes:space:bytes"),
                                          type("mutex:delay:nanoseconds:contentions:count"),
                                          type("process_cpu:cpu:nanoseconds:cpu:nanoseconds")};
  const auto found = [&](std::string_view word) {
    const auto result = find_stored_type(types, word);
    return result.ok() ? result->id() : result.error().message;
  };
  EXPECT_EQ(found("cpu"), types[4].id());
  EXPECT_EQ(found("alloc"), types[1].id());
  EXPECT_EQ(found("inuse"), types[2].id());
  EXPECT_EQ(found("mutex"), types[3].id());
  EXPECT_EQ(found("block"), types[0].id());
  EXPECT_EQ(found(""), types[4].id());
  EXPECT_EQ(found("wall"), "no profile type 'wall' here");
  EXPECT_EQ(find_stored_type({types[1]}, "")->id(), types[1].id());
  EXPECT_FALSE(find_stored_type({types[0], types[1]}, "").ok());
  EXPECT_EQ(find_stored_type({}, "cpu").error().code, ErrorCode::kNoData);
}

}  // namespace
}  // namespace vesta
