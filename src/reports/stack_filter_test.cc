#include "reports/stack_filter.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "profile/frame_name.h"
#include "profile/test_profiles.h"
#include "reports/selection_profile.h"
#include "reports/selection_tree.h"
#include "reports/test_selection.h"

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
  for (const auto& [granularity, group] :
       {std::pair(Granularity::kFunction, Granularity::kFunction),
        std::pair(Granularity::kLine, Granularity::kLine)}) {
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
      filters.focus = {one};
      filters.ignore = {other};
      expect_same(batch, filters, fmt::format("focus {} ignore {}", one, other));
      filters = {};
      filters.hide = {one};
      filters.show = {other};
      expect_same(batch, filters, fmt::format("hide {} show {}", one, other));
      filters = {};
      filters.hide = {one};
      filters.show_from = {other};
      expect_same(batch, filters, fmt::format("hide {} show_from {}", one, other));
      filters = {};
      filters.focus = {one};
      filters.show_from = {other};
      expect_same(batch, filters, fmt::format("focus {} show_from {}", one, other));
    }
  }
}

using Expressions = std::vector<std::string>;

std::string described(const FrameFilters& filters) {
  return fmt::format("focus [{}] ignore [{}] hide [{}] show [{}] show_from [{}] prune_from [{}]",
                     fmt::join(filters.focus, ", "), fmt::join(filters.ignore, ", "),
                     fmt::join(filters.hide, ", "), fmt::join(filters.show, ", "),
                     fmt::join(filters.show_from, ", "), fmt::join(filters.prune_from, ", "));
}

const Expressions kExpressions = {"",    "",      "",      "function1", "on[2-4]$",
                                  "lib", "n0|n5", "file3", "1.so"};

ProfileBatch random_stacks(uint64_t seed) {
  test::RandomOptions options;
  options.profiles = 1;
  ProfileBatch batch = test::random_batch(seed, options);
  batch.profiles[0].drop_frames = {};  // what a profile asks for itself is not stored
  return batch;
}

TEST(StackFilter, MeansTheSameOnRandomData) {
  std::mt19937_64 random(7);
  for (uint64_t seed = 1; seed <= 160; ++seed) {
    const ProfileBatch batch = random_stacks(seed);
    // One expression of each kind at first, then up to three.
    const auto any = [&] {
      Expressions list(seed <= 80 ? 1 : random() % 4);
      for (std::string& text : list) text = kExpressions[random() % kExpressions.size()];
      return list;
    };
    FrameFilters filters{any(), any(), any(), any(), any()};
    if (seed % 3 == 0) filters.prune_from = any();
    if (has_empty_location(batch.dictionary)) filters.show.clear();
    expect_same(batch, filters, fmt::format("seed {} {}", seed, described(filters)));
  }
}

// Repeating a filter means: apply the second to what the first left.
TEST(StackFilter, RepeatedExpressionsApplyOneAfterTheOther) {
  std::mt19937_64 random(11);
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const ProfileBatch batch = random_stacks(seed);
    for (const auto kind : {&FrameFilters::focus, &FrameFilters::ignore, &FrameFilters::hide,
                            &FrameFilters::show, &FrameFilters::show_from}) {
      if (kind == &FrameFilters::show && has_empty_location(batch.dictionary)) continue;
      FrameFilters filters;
      ProfileBatch left = batch;
      for (int i = 0; i < 3; ++i) {
        FrameFilters one;
        const std::string& text = kExpressions[random() % kExpressions.size()];
        (filters.*kind).push_back(text);
        (one.*kind) = {text};
        left = to_profile_batch(test::selection_from(left), compiled(one));
      }
      EXPECT_EQ(folded(build_flame_tree(test::selection_from(batch),
                                        {Granularity::kFunction, compiled(filters)})),
                without_zeros(test::folded(test::frames(left))))
          << "seed " << seed << " " << described(filters);
    }
  }
}

TEST(StackFilter, FindsOneExpressionAfterTheOtherWithinALocation) {
  const auto batch = test::batch_from({{"main;a>b>c>a;d", 1}, {"b;a;c", 2}, {"a>x;b>c;d", 4}});
  const auto from = [&](Expressions expressions) {
    FrameFilters filters;
    filters.show_from = std::move(expressions);
    expect_same(batch, filters, described(filters));
    return folded(
        build_flame_tree(test::selection_from(batch), {Granularity::kFunction, compiled(filters)}));
  };
  using Folded = std::map<std::string, int64_t>;
  EXPECT_EQ(from({"a", "b"}), (Folded{{"b;c;a;d", 1}, {"b;c;d", 4}}));
  EXPECT_EQ(from({"b", "a"}), (Folded{{"a;d", 1}, {"a;c", 2}}));
  EXPECT_EQ(from({"c", "b"}), Folded());
  EXPECT_EQ(from({"a", "a"}), from({"a"}));
  EXPECT_EQ(from({"a", "b", "c"}), (Folded{{"c;a;d", 1}, {"c;d", 4}}));
}

TEST(StackFilter, EndsStacksAtTheInnermostMatch) {
  const auto batch = test::batch_from({{"main;a>b>c;d", 1},
                                       {"main;a>b>c;a>b>c;d", 2},
                                       {"x;b;y;b(int);z", 4},
                                       {"a>b>c", 8},
                                       {"x", 16}});
  const auto left = [&](FrameFilters filters) {
    expect_same(batch, filters, described(filters));
    return folded(
        build_flame_tree(test::selection_from(batch), {Granularity::kFunction, compiled(filters)}));
  };
  using Folded = std::map<std::string, int64_t>;
  EXPECT_EQ(
      left({.prune_from = {"^b$"}}),
      (Folded{{"main;a;b", 1}, {"main;a;b;a;b", 2}, {"x;b;y;b(int)", 4}, {"a;b", 8}, {"x", 16}}));
  EXPECT_EQ(left({.show_from = {"^b"}, .prune_from = {"^a$"}}),
            (Folded{{"b;c;d", 1}, {"b;c;b;c;d", 2}, {"b;y;b(int);z", 4}, {"b;c", 8}}));
  EXPECT_EQ(
      left({.hide = {"^b$"}, .prune_from = {"^b$"}}),
      (Folded{{"main;a;c;d", 1}, {"main;a;c;a;c;d", 2}, {"x;y;b(int)", 4}, {"a;c", 8}, {"x", 16}}));
}

TEST(StackFilter, BoundsHowManyExpressionsThereAre) {
  FrameFilters filters;
  filters.hide.assign(FilterExpressions::kMaxTogether, "a");
  filters.focus.assign(FilterExpressions::kMaxSeparate, "a");
  EXPECT_TRUE(StackFilter::compile(filters).ok());
  filters.focus.emplace_back("a");
  EXPECT_EQ(StackFilter::compile(filters).error().message, "focus: more than 8 expressions");
  filters.focus = {};
  filters.hide.emplace_back("a");
  EXPECT_EQ(StackFilter::compile(filters).error().message, "hide: more than 64 expressions");
}

TEST(StackFilter, ChecksEachExpressionByItself) {
  FrameFilters filters;
  filters.ignore = {"a)", "(b"};
  EXPECT_FALSE(StackFilter::compile(filters).ok());
  // What one of them sets does not reach the next.
  filters.ignore = {"(?i)X", "MAIN"};
  const auto batch = test::batch_from({{"main", 1}, {"x", 2}});
  EXPECT_EQ(folded(build_flame_tree(test::selection_from(batch),
                                    {Granularity::kFunction, compiled(filters)})),
            (std::map<std::string, int64_t>{{"main", 1}}));
}

TEST(StackFilter, SaysWhichExpressionIsWrong) {
  FrameFilters filters;
  filters.show_from = {"a", "("};
  const auto filter = StackFilter::compile(filters);
  ASSERT_FALSE(filter.ok());
  EXPECT_EQ(filter.error().code, ErrorCode::kUsage);
  EXPECT_NE(filter.error().message.find("show_from: '('"), std::string::npos);
}

TEST(StackFilter, DoesNotFilterByLabels) {
  FrameFilters filters;
  filters.tag_focus = {"thread=main"};
  EXPECT_FALSE(StackFilter::compile(filters).ok());
}

}  // namespace
}  // namespace vesta
