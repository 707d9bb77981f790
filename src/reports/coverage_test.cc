#include "reports/coverage.h"

#include <gtest/gtest.h>

#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"
#include "reports/test_selection.h"

namespace vesta {
namespace {

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

}  // namespace
}  // namespace vesta
