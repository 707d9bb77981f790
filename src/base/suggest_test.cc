#include "base/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace vesta {
namespace {

TEST(Suggest, CountsEdits) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("merge", "merge"), 0u);
  EXPECT_EQ(edit_distance("mrege", "merge"), 1u);
}

TEST(Suggest, OffersTheNearestWordOnly) {
  const std::vector<std::string> commands = {"top", "tree", "merge", "convert"};
  EXPECT_EQ(nearest("mereg", commands), "merge");
  EXPECT_EQ(nearest("conv", commands), "convert");
  EXPECT_EQ(nearest("tpo", commands), "top");
  EXPECT_EQ(nearest("zzzzzz", commands), "");
}

}  // namespace
}  // namespace vesta
