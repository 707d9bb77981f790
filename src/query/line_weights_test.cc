#include "query/line_weights.h"

#include <gtest/gtest.h>

#include "profile/test_profiles.h"
#include "query/test_selection.h"

namespace vesta {
namespace {

using Lines = std::vector<SourceLine>;

FlameTree by_line(const std::vector<test::FoldedStack>& stacks) {
  const auto batch = test::batch_from(stacks);
  return build_flame_tree(test::selection_from(batch), {GroupBy::kLine, {}});
}

TEST(LineWeights, AreThoseOfOneFile) {
  const FlameTree tree =
      by_line({{"main@a.cc:1;f@a.cc:7;g@b.cc:3", 5}, {"main@a.cc:2;f@a.cc:7", 3}});
  EXPECT_EQ(line_weights(tree, "a.cc", ""), (Lines{{1, 0, 5}, {2, 0, 3}, {7, 3, 8}}));
  EXPECT_EQ(line_weights(tree, "b.cc", ""), (Lines{{3, 5, 5}}));
  EXPECT_EQ(line_weights(tree, "c.cc", ""), std::nullopt);
  EXPECT_EQ(line_weights(tree, "", ""), std::nullopt);
}

TEST(LineWeights, CountAStackOnceThoughALineIsInItTwice) {
  const FlameTree tree = by_line({{"f@a.cc:7;f@a.cc:7;g@a.cc:7", 5}});
  EXPECT_EQ(line_weights(tree, "a.cc", ""), (Lines{{7, 5, 5}}));
}

TEST(LineWeights, AreOfOneFunctionWhereThatIsAskedFor) {
  const FlameTree tree = by_line({{"main@a.cc:1;f@a.cc:7", 5}, {"main@a.cc:2", 3}});
  EXPECT_EQ(line_weights(tree, "a.cc", "f"), (Lines{{7, 5, 5}}));
  EXPECT_EQ(line_weights(tree, "a.cc", "nobody"), Lines());
}

}  // namespace
}  // namespace vesta
