#include "query/stack_filter.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "profile/frame_name.h"
#include "profile/test_profiles.h"
#include "query/flame_tree.h"
#include "query/selection_profile.h"
#include "query/test_selection.h"

namespace vesta {
namespace {

// "main;work;leaf" -> weight, from a tree.
std::map<std::string, int64_t> folded(const FlameTree& tree) {
  std::map<std::string, int64_t> out;
  for (uint32_t node = 0; node < tree.size(); ++node) {
    if (tree.weights.self[node] == 0) continue;
    std::string text;
    for (uint32_t at = node; at != 0; at = tree.parent[at])
      text.insert(0, tree.text(at) + (text.empty() ? "" : ";"));
    out[text] += tree.weights.self[node];
  }
  return out;
}

std::map<std::string, int64_t> without_zeros(std::map<std::string, int64_t> map) {
  std::erase_if(map, [](const auto& entry) { return entry.second == 0; });
  return map;
}

StackFilter compiled(const FrameFilters& filters) {
  auto filter = StackFilter::compile(filters);
  EXPECT_TRUE(filter.ok());
  return filter.ok() ? *filter : StackFilter();
}

// What the filters for files leave of the same data.
std::map<std::string, int64_t> expected(const ProfileBatch& batch, const FrameFilters& filters,
                                        Granularity granularity) {
  FrameOptions options;
  options.filters = filters;
  options.granularity = granularity;
  return without_zeros(test::folded(test::frames(batch, options)));
}

// The empty location in a stack, which filters of files never hide.
bool has_empty_location(const Dictionary& d) {
  for (size_t i = 1; i < d.stacks.size(); ++i) {
    const auto stack = d.stacks[StackId(i)];
    if (std::ranges::find(stack, LocationId()) != stack.end()) return true;
  }
  return false;
}

void expect_same(const ProfileBatch& batch, const FrameFilters& filters, const std::string& what) {
  const Selection selection = test::selection_from(batch);
  const StackFilter filter = compiled(filters);
  for (const auto& [granularity, group] : {std::pair(Granularity::kFunction, GroupBy::kFunction),
                                           std::pair(Granularity::kLine, GroupBy::kLine)}) {
    EXPECT_EQ(folded(build_flame_tree(selection, {group, filter})),
              expected(batch, filters, granularity))
        << what;
  }
  // The same through a batch that was filtered when it was made.
  EXPECT_EQ(without_zeros(test::folded(test::frames(to_profile_batch(selection, filter)))),
            expected(batch, filters, Granularity::kFunction))
      << what;
  // And through one that is filtered afterwards, as files are.
  EXPECT_EQ(expected(to_profile_batch(selection), filters, Granularity::kLine),
            expected(batch, filters, Granularity::kLine))
      << what;
}

TEST(StackFilter, LeavesStacksAloneWithoutExpressions) {
  const auto batch = test::batch_from({{"main;a;b", 1}, {"main;a", 2}, {"main;c>d;e", 3}});
  EXPECT_TRUE(compiled({}).empty());
  expect_same(batch, {}, "no filter");
}

TEST(StackFilter, MeansWhatFiltersOfFilesMean) {
  const auto batch = test::batch_from({{"main@m.cc:1;a@a.cc:2>b@b.cc:3;c", 1},
                                       {"main@m.cc:1;a@a.cc:2>b@b.cc:3>c@c.cc:9", 2},
                                       {"main@m.cc:1;a@a.cc:2", 4},
                                       {"main@m.cc:1;x>a>b;main@m.cc:1;x>a>b", 8},
                                       {"b;a;b;a", 16},
                                       {"c", 32}});
  const std::vector<std::string> expressions = {"",     "a",    "b",       "^c$",
                                                "main", "m.cc", "nothing", "."};
  for (const auto& one : expressions) {
    for (const auto& other : expressions) {
      FrameFilters filters;
      filters.focus = one;
      filters.ignore = other;
      expect_same(batch, filters, fmt::format("focus {} ignore {}", one, other));
      filters = {};
      filters.hide = one;
      filters.show = other;
      expect_same(batch, filters, fmt::format("hide {} show {}", one, other));
      filters = {};
      filters.hide = one;
      filters.show_from = other;
      expect_same(batch, filters, fmt::format("hide {} show_from {}", one, other));
      filters = {};
      filters.focus = one;
      filters.show_from = other;
      expect_same(batch, filters, fmt::format("focus {} show_from {}", one, other));
    }
  }
}

TEST(StackFilter, MeansTheSameOnRandomData) {
  const std::vector<std::string> expressions = {"",    "",      "",      "function1", "on[2-4]$",
                                                "lib", "n0|n5", "file3", "1.so"};
  std::mt19937_64 random(7);
  for (uint64_t seed = 1; seed <= 80; ++seed) {
    test::RandomOptions options;
    options.profiles = 1;
    ProfileBatch batch = test::random_batch(seed, options);
    batch.profiles[0].drop_frames = {};  // what a profile asks for itself is not stored
    const auto any = [&] { return expressions[random() % expressions.size()]; };
    FrameFilters filters{any(), any(), any(), any(), any(), "", ""};
    if (has_empty_location(batch.dictionary)) filters.show.clear();
    expect_same(
        batch, filters,
        fmt::format("seed {} focus {} ignore {} hide {} show {} show_from {}", seed, filters.focus,
                    filters.ignore, filters.hide, filters.show, filters.show_from));
  }
}

TEST(StackFilter, SaysWhichExpressionIsWrong) {
  FrameFilters filters;
  filters.show_from = "(";
  const auto filter = StackFilter::compile(filters);
  ASSERT_FALSE(filter.ok());
  EXPECT_EQ(filter.error().code, ErrorCode::kUsage);
  EXPECT_NE(filter.error().message.find("show_from: '('"), std::string::npos);
}

TEST(StackFilter, DoesNotFilterByLabels) {
  FrameFilters filters;
  filters.tag_focus = "thread=main";
  EXPECT_FALSE(StackFilter::compile(filters).ok());
}

}  // namespace
}  // namespace vesta
