#include "reports/labelled_samples.h"

#include <gtest/gtest.h>

#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"
#include "reports/selection_profile.h"
#include "reports/selection_tree.h"
#include "reports/test_selection.h"

namespace vesta {
namespace {

using Folded = std::map<std::string, int64_t>;

ProfileBatch labelled_batch() {
  return test::batch_from({{"main;a", 1, {{"thread", "t1"}}},
                           {"main;a", 2, {{"thread", "t2"}}},
                           {"main;b>c", 4, {{"thread", "t2"}, {"path", "/x"}}},
                           {"main;d", 8}});
}

TEST(LabelledSamples, PassTheFiltersThatFilesHave) {
  for (const FrameFilters& filters :
       {FrameFilters{.tag_focus = {"thread=t2"}}, FrameFilters{.tag_focus = {"thread=t2", "path"}},
        FrameFilters{.tag_ignore = {"t1", "/x"}}, FrameFilters{.tag_focus = {"nothing"}}}) {
    const ProfileBatch batch = labelled_batch();
    ProfileBatch samples = batch;
    ASSERT_TRUE(keep_labelled(samples, filters).ok());
    EXPECT_EQ(find_inconsistency(samples), "");
    const Selection left = with_stacks_of(test::selection_from(batch), samples);
    EXPECT_EQ(left.total, 15) << "shares are of all";
    FrameOptions options;
    options.filters = filters;
    EXPECT_EQ(test::folded(test::frames(to_profile_batch(left))),
              test::folded(test::frames(batch, options)));
  }
}

TEST(LabelledSamples, HaveTheLabelsOfTheirResource) {
  ProfileBatch batch = labelled_batch();
  DictionaryBuilder builder(batch.dictionary);
  const std::vector<Label> labels = {builder.text_label("service_name", "web"),
                                     builder.text_label("thread", "t9")};
  batch.profiles[0].resource = builder.label_set(labels);
  ASSERT_TRUE(keep_labelled(batch, {.tag_focus = {"thread=t9"}}).ok());
  const Selection left = with_stacks_of({}, batch);
  ASSERT_EQ(left.services.size(), 1U);
  EXPECT_EQ(left.services[0].service, "web");
  EXPECT_EQ(test::folded(test::frames(to_profile_batch(left))), (Folded{{"main;d", 8}}));
}

TEST(LabelledSamples, AreLeftOutOfScaledComparisonsButNotOfTotals) {
  const ProfileBatch batch = labelled_batch();
  ProfileBatch samples = batch;
  ASSERT_TRUE(keep_labelled(samples, {.tag_focus = {"thread=t2"}}).ok());
  const Selection left = with_stacks_of(test::selection_from(batch), samples);
  const FlameTree tree = build_flame_tree(left, left, CompareScale::kAbsolute, {}, 2);
  EXPECT_EQ(tree.whole, 15);
  EXPECT_EQ(tree.baseline_whole, 30);
  EXPECT_EQ(tree.baseline.total[0], 12);
}

TEST(LabelledSamples, SayWhichFilterIsWrong) {
  ProfileBatch batch = labelled_batch();
  const Status status = keep_labelled(batch, {.tag_ignore = {"thread=("}});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kUsage);
  EXPECT_TRUE(status.error().message.starts_with("tag_ignore")) << status.error().message;
}

}  // namespace
}  // namespace vesta
