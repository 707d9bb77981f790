#include "profile/merge/mapping_unifier.h"

#include <gtest/gtest.h>

#include "profile/merge/content_hash.h"
#include "profile/merge/dictionary_map.h"
#include "profile/merge/merge.h"
#include "profile/test_profiles.h"

namespace vesta {
namespace {

struct Place {
  std::string_view file = "/usr/bin/app";
  std::string_view build_id = "abc";
  uint64_t start = 0x400000;
  uint64_t size = 0x10000;
  uint64_t offset_in_file = 0;
};

// One sample at `offset` into a binary mapped like that, without names.
ProfileBatch process(const Place& place, uint64_t offset) {
  ProfileBatch batch = test::batch_from({});
  DictionaryBuilder b(batch.dictionary);
  Mapping m;
  m.file = b.string(place.file);
  m.build_id = b.string(place.build_id);
  m.start = place.start;
  m.limit = place.start + place.size;
  m.file_offset = place.offset_in_file;
  Location l;
  l.mapping = b.mapping(m);
  l.address = place.start + offset;
  const LocationId id = b.location(l, {});
  const int64_t value = 1;
  batch.profiles[0].add_sample(b.stack(std::span<const LocationId>(&id, 1)),
                               std::span<const int64_t>(&value, 1));
  return batch;
}

ProfileBatch merge_two(const ProfileBatch& a, const ProfileBatch& b) {
  const ProfileBatch* both[] = {&a, &b};
  return merge(both);
}

TEST(MappingUnifierTest, OneBinaryAtTwoAddressesIsOne) {
  const ProfileBatch merged =
      merge_two(process({.start = 0x700000}, 0x123), process({.start = 0x500000}, 0x123));
  const Dictionary& d = merged.dictionary;
  ASSERT_EQ(d.mappings.size(), 2u);
  EXPECT_EQ(d.mappings[1].start, 0x500000u);
  EXPECT_EQ(d.mappings[1].limit, 0x510000u);
  ASSERT_EQ(d.locations.size(), 2u);
  EXPECT_EQ(d.locations[1].address, 0x500123u);
  EXPECT_EQ(merged.profiles[0].samples.values, std::vector<int64_t>{2});
}

TEST(MappingUnifierTest, DifferentPlacesInOneBinaryStayApart) {
  const ProfileBatch merged =
      merge_two(process({.start = 0x700000}, 0x123), process({.start = 0x500000}, 0x124));
  EXPECT_EQ(merged.dictionary.mappings.size(), 2u);
  EXPECT_EQ(merged.dictionary.locations.size(), 3u);
}

TEST(MappingUnifierTest, OtherBuildsOtherSegmentsAndOtherSizesStayApart) {
  const Place place;
  for (const Place& other :
       {Place{.build_id = "def"}, Place{.offset_in_file = 0x1000}, Place{.size = 0x20000}}) {
    EXPECT_EQ(merge_two(process(place, 1), process(other, 1)).dictionary.mappings.size(), 3u);
  }
}

TEST(MappingUnifierTest, ABuildIdWinsOverThePath) {
  const ProfileBatch merged = merge_two(process({.file = "/proc/1/root/app"}, 1),
                                        process({.file = "/opt/app", .start = 0x900000}, 1));
  ASSERT_EQ(merged.dictionary.mappings.size(), 2u);
  EXPECT_EQ(merged.dictionary.string(merged.dictionary.mappings[1].file), "/opt/app");
}

TEST(MappingUnifierTest, WithoutABuildIdThePathHasToDo) {
  const Place nameless{.build_id = "", .start = 0x800000};
  EXPECT_EQ(
      merge_two(process({.build_id = ""}, 1), process(nameless, 1)).dictionary.mappings.size(), 2u);
  // A path is no build id, even if it reads the same.
  EXPECT_EQ(merge_two(process({.file = "abc", .build_id = ""}, 1), process({.file = "x"}, 1))
                .dictionary.mappings.size(),
            3u);
}

TEST(MappingUnifierTest, WithoutAnyNameOnlyAddressesCount) {
  const Place here{.file = "", .build_id = ""};
  const Place there{.file = "", .build_id = "", .start = 0x800000};
  EXPECT_EQ(merge_two(process(here, 1), process(here, 1)).dictionary.mappings.size(), 2u);
  EXPECT_EQ(merge_two(process(here, 1), process(there, 1)).dictionary.mappings.size(), 3u);
}

TEST(MappingUnifierTest, TwinsThatDifferByLessThanAPageSettleOnOneLimit) {
  const ProfileBatch a = process({.size = 0xf001}, 1);
  const ProfileBatch b = process({.size = 0xffff}, 1);
  EXPECT_EQ(test::dump(merge_two(a, b)), test::dump(merge_two(b, a)));
  EXPECT_EQ(merge_two(a, b).dictionary.mappings[1].limit, 0x40f001u);
}

TEST(MappingUnifierTest, ABinaryIsSymbolizedOnlyIfAllItsTwinsAre) {
  ProfileBatch a = process({}, 1);
  ProfileBatch b = process({}, 2);
  a.dictionary.mappings[1].has_functions = true;
  a.dictionary.mappings[1].has_filenames = true;
  b.dictionary.mappings[1].has_functions = true;
  const ProfileBatch merged = merge_two(a, b);
  EXPECT_TRUE(merged.dictionary.mappings[1].has_functions);
  EXPECT_FALSE(merged.dictionary.mappings[1].has_filenames);
}

TEST(MappingUnifierTest, ImpossibleRangesDoNoHarm) {
  const ProfileBatch merged =
      merge_two(process({.start = UINT64_MAX - 1, .size = UINT64_MAX}, UINT64_MAX / 2),
                process({.start = 5, .size = UINT64_MAX}, 3));
  EXPECT_EQ(find_inconsistency(merged), "");
}

TEST(DictionaryMapTest, CopiesWhatIsAskedForAndNothingElse) {
  const ProfileBatch source = test::random_batch(4);
  Dictionary target;
  DictionaryBuilder builder(target);
  DictionaryMap map(source.dictionary, builder);
  EXPECT_EQ(map.stack(StackId()), StackId());
  EXPECT_EQ(target.locations.size(), 1u);
  const StackId wanted = source.profiles[0].samples.stacks[1];
  const StackId copy = map.stack(wanted);
  EXPECT_EQ(map.stack(wanted), copy);
  EXPECT_EQ(target.stacks[copy].size(), source.dictionary.stacks[wanted].size());
  EXPECT_LT(target.locations.size(), source.dictionary.locations.size());
  EXPECT_EQ(stack_hashes(target)[copy.index()], stack_hashes(source.dictionary)[wanted.index()]);
}

}  // namespace
}  // namespace vesta
