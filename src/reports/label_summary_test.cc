#include "reports/label_summary.h"

#include <gtest/gtest.h>

#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"

namespace vesta {
namespace {

using test::batch_from;

TEST(LabelSummaryTest, WeightsAddUpPerValue) {
  const auto keys = summarize_labels(test::merged(batch_from({{"a", 5, {{"thread", "x"}}},
                                                              {"b", 7, {{"thread", "y"}}},
                                                              {"c", 1, {{"thread", "x"}}},
                                                              {"d", 9}})));
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys[0].key, "thread");
  EXPECT_EQ(keys[0].weight, 13);
  ASSERT_EQ(keys[0].values.size(), 2u);
  EXPECT_EQ(keys[0].values[0].value, "y");
  EXPECT_EQ(keys[0].values[0].weight, 7);
  EXPECT_EQ(keys[0].values[1].weight, 6);
}

TEST(LabelSummaryTest, ASampleWithTwoValuesCountsOnceUnderTheKey) {
  const auto keys =
      summarize_labels(test::merged(batch_from({{"a", 5, {{"tag", "x"}, {"tag", "y"}}}})));
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys[0].weight, 5);
  EXPECT_EQ(keys[0].values.size(), 2u);
}

TEST(LabelSummaryTest, ResourcesCountUnlessTheSampleSaysOtherwise) {
  ProfileBatch batch = batch_from({{"a", 5, {{"service_name", "own"}}}, {"b", 7}});
  DictionaryBuilder b(batch.dictionary);
  const Label resource = b.text_label("service_name", "web");
  batch.profiles[0].resource = b.label_set(std::span<const Label>(&resource, 1));
  const auto keys = summarize_labels(test::merged(batch));
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys[0].weight, 12);
  ASSERT_EQ(keys[0].values.size(), 2u);
  EXPECT_EQ(keys[0].values[0].value, "web");
  EXPECT_EQ(keys[0].values[0].weight, 7);
}

TEST(LabelSummaryTest, NumbersAreShownWithTheirUnit) {
  Dictionary d;
  DictionaryBuilder b(d);
  EXPECT_EQ(label_text(d, b.number_label("id", 2048)), "2048");
  EXPECT_EQ(label_text(d, b.number_label("size", 2048, "bytes")), "2kB");
}

}  // namespace
}  // namespace vesta
