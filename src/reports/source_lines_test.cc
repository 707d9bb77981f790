#include "reports/source_lines.h"

#include <gtest/gtest.h>

#include "profile/flame_tree.h"
#include "profile/test_profiles.h"
#include "reports/stack_filter.h"
#include "reports/test_selection.h"

namespace vesta {
namespace {

using Lines = LineWeights;

FlameTree by_line(const std::vector<test::FoldedStack>& stacks) {
  const auto batch = test::batch_from(stacks);
  return build_flame_tree(test::selection_from(batch), {Granularity::kLine, {}});
}

TEST(LineWeights, AreThoseOfOneFile) {
  const FlameTree tree =
      by_line({{"main@a.cc:1;f@a.cc:7;g@b.cc:3", 5}, {"main@a.cc:2;f@a.cc:7", 3}});
  EXPECT_EQ(line_weights(tree, "a.cc", ""), (Lines{{1, {0, 5}}, {2, {0, 3}}, {7, {3, 8}}}));
  EXPECT_EQ(line_weights(tree, "b.cc", ""), (Lines{{3, {5, 5}}}));
  EXPECT_EQ(line_weights(tree, "c.cc", ""), std::nullopt);
  EXPECT_EQ(line_weights(tree, "", ""), std::nullopt);
}

TEST(LineWeights, CountAStackOnceThoughALineIsInItTwice) {
  const FlameTree tree = by_line({{"f@a.cc:7;f@a.cc:7;g@a.cc:7", 5}});
  EXPECT_EQ(line_weights(tree, "a.cc", ""), (Lines{{7, {5, 5}}}));
}

TEST(LineWeights, AreOfOneFunctionWhereThatIsAskedFor) {
  const FlameTree tree = by_line({{"main@a.cc:1;f@a.cc:7", 5}, {"main@a.cc:2", 3}});
  EXPECT_EQ(line_weights(tree, "a.cc", "f"), (Lines{{7, {5, 5}}}));
  EXPECT_EQ(line_weights(tree, "a.cc", "nobody"), Lines());
}

// Of files and of selections alike.
std::vector<FunctionLines> lines_of(const std::vector<test::FoldedStack>& stacks,
                                    std::string_view regex, const FrameFilters& filters = {}) {
  const ProfileBatch batch = test::batch_from(stacks);
  const auto of_file = source_lines(test::merged(batch), filters, regex);
  const auto of_store =
      source_lines(test::selection_from(batch), {.filter = *StackFilter::compile(filters)}, regex);
  EXPECT_TRUE(of_file.ok() && of_store.ok());
  EXPECT_EQ(*of_file, *of_store);
  return *of_file;
}

TEST(SourceLines, CountOncePerSample) {
  const auto functions = lines_of(
      {{"main@m.cc:1;fib@f.cc:3;fib@f.cc:4", 5}, {"main@m.cc:2;fib@f.cc:3", 2}, {"main@m.cc:2", 1}},
      "fib|main");
  ASSERT_EQ(functions.size(), 2u);
  const FunctionLines& fib = functions[0];
  EXPECT_EQ(fib.function, "fib");
  EXPECT_EQ(fib.file, "f.cc");
  EXPECT_EQ(fib.flat, 7);
  EXPECT_EQ(fib.cum, 7);
  EXPECT_EQ(fib.lines.at(3).flat, 2);
  EXPECT_EQ(fib.lines.at(3).cum, 7);
  EXPECT_EQ(fib.lines.at(4).flat, 5);
  EXPECT_EQ(fib.lines.at(4).cum, 5);
  EXPECT_EQ(functions[1].lines.at(2).cum, 3);
  EXPECT_EQ(functions[1].flat, 1);
}

TEST(SourceLines, AreOfFunctionsThatMatch) {
  const std::vector<test::FoldedStack> stacks = {{"main@m.cc:1;work@w.cc:3", 5}};
  EXPECT_EQ(lines_of(stacks, "^wor").size(), 1u);
  EXPECT_EQ(lines_of(stacks, "w.cc").size(), 0u);
  FrameFilters filters;
  filters.hide = {"work"};
  EXPECT_EQ(lines_of(stacks, "work", filters).size(), 0u);
  const auto wrong = source_lines(test::merged(test::batch_from(stacks)), {}, "(");
  EXPECT_EQ(wrong.error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace vesta
