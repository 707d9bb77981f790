#include "profile/label_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/test_profiles.h"

namespace vesta {
namespace {

using test::batch_from;
using testing::ElementsAre;

ProfileBatch labelled() {
  return batch_from({{"main;a", 1, {{"thread", "t1"}, {"zone", "x"}}},
                     {"main;a", 2, {{"thread", "t2"}}},
                     {"main;b", 4}});
}

// "t1;main;a 1", in the order of the profile.
std::vector<std::string> stacks_of(const MergedProfile& profile) {
  const auto frames = resolve_frames(profile, {});
  std::vector<std::string> out;
  for (const StackWeight& weight : frames->weights) {
    std::string line;
    const auto stack = frames->stacks[weight.stack];
    for (size_t i = stack.size(); i-- > 0;)
      line += display_name(*frames, stack[i].frame()) + (i == 0 ? " " : ";");
    out.push_back(line + std::to_string(weight.value));
  }
  return out;
}

TEST(LabelFrames, TheFirstNameIsTheNewRootAndTheLastTheNewLeaf) {
  const MergedProfile profile = test::merged(labelled());
  EXPECT_THAT(
      stacks_of(with_label_frames(profile, {.root = {"thread", "zone"}, .leaf = {}, .unit = {}})),
      testing::UnorderedElementsAre("t1;x;main;a 1", "t2;<unknown>;main;a 2",
                                    "<unknown>;<unknown>;main;b 4"));
  EXPECT_THAT(
      stacks_of(with_label_frames(profile, {.root = {}, .leaf = {"zone", "thread"}, .unit = {}})),
      testing::UnorderedElementsAre("main;a;x;t1 1", "main;a;<unknown>;t2 2",
                                    "main;b;<unknown>;<unknown> 4"));
}

TEST(LabelFrames, TheTotalStays) {
  const MergedProfile profile = test::merged(labelled());
  EXPECT_EQ(total_of(with_label_frames(profile, {.root = {"thread"}, .leaf = {}, .unit = {}})), 7);
}

TEST(LabelNames, AreShownOrHiddenByExpression) {
  const auto shown = LabelNames::compile("^t", "x$");
  ASSERT_TRUE(shown.ok());
  EXPECT_TRUE(shown->keeps("thread"));
  EXPECT_FALSE(shown->keeps("zone"));
  EXPECT_FALSE(shown->keeps("tx"));
  EXPECT_FALSE(LabelNames::compile("(", "").ok());
}

TEST(LabelNames, TakeLabelsOutOfAProfile) {
  auto frames = resolve_frames(test::merged(labelled()), {});
  keep_labels(*frames, *LabelNames::compile("", "thread"));
  std::vector<std::string> left;
  for (const StackWeight& weight : frames->weights) {
    for (const Label& label : frames->dictionary->label_sets[weight.labels])
      left.emplace_back(frames->string(label.key));
  }
  EXPECT_THAT(left, ElementsAre("zone"));
}

}  // namespace
}  // namespace vesta
