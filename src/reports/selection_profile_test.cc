#include "reports/selection_profile.h"

#include <gtest/gtest.h>

#include "formats/pprof/reader.h"
#include "formats/registry.h"
#include "profile/dictionary_builder.h"
#include "profile/merged_profile.h"
#include "profile/test_profiles.h"
#include "reports/coverage.h"
#include "reports/test_selection.h"

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
  ASSERT_EQ(list_types(batch).size(), 1U);
  EXPECT_EQ(list_types(batch)[0].type, "cpu");
}

}  // namespace
}  // namespace vesta
