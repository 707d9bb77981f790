// Top tables, call graphs, call trees and source lines. The figures were checked against
// `go tool pprof`, where it has them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "profile/dictionary_builder.h"
#include "profile/flame_tree.h"
#include "profile/test_profiles.h"
#include "reports/call_graph.h"
#include "reports/function_table.h"
#include "reports/source_lines.h"

namespace vesta {
namespace {

using test::batch_from;
using test::frames;
using test::random_batch;

struct Figures {
  int64_t flat = 0;
  int64_t cum = 0;
  friend bool operator==(const Figures&, const Figures&) = default;
};
std::ostream& operator<<(std::ostream& out, const Figures& f) {
  return out << f.flat << "/" << f.cum;
}

std::vector<std::pair<std::string, Figures>> top(const FrameProfile& profile,
                                                 TopOrder order = TopOrder::kByFlat) {
  std::vector<std::pair<std::string, Figures>> out;
  for (const FunctionRow& row : top_functions(profile, {.order = order}).rows)
    out.emplace_back(display_name(profile, FrameId(row.name)), Figures{row.flat, row.cum});
  return out;
}
using Rows = std::vector<std::pair<std::string, Figures>>;

TEST(TopTableTest, RecursionCountsOnce) {
  EXPECT_EQ(top(frames(batch_from({{"main;fib;fib;fib", 5}, {"main;fib", 2}}))),
            (Rows{{"fib", {7, 7}}, {"main", {0, 7}}}));
}

TEST(TopTableTest, RowsComeByWeightThenByName) {
  const FrameProfile profile = frames(batch_from({{"main;b", 3}, {"main;a", 3}, {"main;c", 9}}));
  EXPECT_EQ(top(profile), (Rows{{"c", {9, 9}}, {"a", {3, 3}}, {"b", {3, 3}}, {"main", {0, 15}}}));
  EXPECT_EQ(top(profile, TopOrder::kByCum),
            (Rows{{"main", {0, 15}}, {"c", {9, 9}}, {"a", {3, 3}}, {"b", {3, 3}}}));
}

TEST(TopTableTest, NegativeWeightsCountByTheirSizeAndWhatCancelsOutIsLeftOut) {
  const FrameProfile profile = frames(
      batch_from({{"main;less", -9}, {"main;more", 4}, {"main;same", 5}, {"main;same", -5}}));
  EXPECT_EQ(top(profile), (Rows{{"less", {-9, -9}}, {"more", {4, 4}}, {"main", {0, -5}}}));
  EXPECT_EQ(profile.total, 23);
}

TEST(TopTableTest, EmptyStacksCountInTheTotalOnly) {
  const FrameProfile profile = frames(batch_from({{"", 4}, {"main", 1}}));
  EXPECT_EQ(profile.total, 5);
  EXPECT_EQ(top(profile), (Rows{{"main", {1, 1}}}));
}

TEST(TopTableTest, ExtremesSaturate) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const FrameProfile profile = frames(batch_from({{"main;a", kMax}, {"main;b", kMax}}));
  EXPECT_EQ(profile.total, kMax);
  EXPECT_EQ(top(profile).back(), (std::pair<std::string, Figures>{"main", {0, kMax}}));
}

TEST(TopTableTest, FlatWeightsAddUpToWhatPassedTheFilters) {
  FrameOptions options;
  options.filters.hide = {"function1"};
  options.filters.show_from = {"f"};
  for (uint64_t seed = 0; seed < 10; ++seed) {
    for (const Granularity granularity :
         {Granularity::kFunction, Granularity::kFile, Granularity::kLine, Granularity::kAddress}) {
      options.granularity = granularity;
      const FrameProfile profile = frames(random_batch(seed), options);
      int64_t sum = 0;
      for (const StackWeight& weight : profile.weights) sum += weight.value;
      int64_t flat = 0;
      for (const FunctionRow& row : function_table(profile).rows) {
        flat += row.flat;
        EXPECT_LE(row.flat, row.cum);
        EXPECT_LE(row.cum, sum);
      }
      EXPECT_EQ(flat, sum);
    }
  }
}

std::map<std::string, InlineUse> inline_uses(const FrameProfile& profile) {
  std::map<std::string, InlineUse> out;
  for (const FunctionRow& row : function_table(profile).rows)
    out[display_name(profile, FrameId(row.name))] = row.inlined;
  return out;
}

TEST(TopTableTest, SaysWhetherCallersHaveAFunctionInlined) {
  const auto uses = inline_uses(frames(batch_from(
      {{"main>always;x", 1}, {"main>sometimes", 1}, {"other;sometimes", 1}, {"main;never", 1}})));
  EXPECT_EQ(uses.at("always"), InlineUse::kAlways);
  EXPECT_EQ(uses.at("sometimes"), InlineUse::kSometimes);
  EXPECT_EQ(uses.at("never"), InlineUse::kNever);
  EXPECT_EQ(uses.at("main"), InlineUse::kNever);
}

TEST(TopTableTest, ACallerThatInlinesNowAndThenDoesNotInline) {
  const auto uses = inline_uses(frames(batch_from({{"main>work", 1}, {"main;work", 1}})));
  EXPECT_EQ(uses.at("work"), InlineUse::kNever);
}

TEST(TopTableTest, TheOutermostOfRecursiveCallsDecides) {
  EXPECT_EQ(inline_uses(frames(batch_from({{"a>b;a;b", 1}}))).at("b"), InlineUse::kAlways);
  EXPECT_EQ(inline_uses(frames(batch_from({{"a;b;a>b", 1}}))).at("b"), InlineUse::kNever);
}

std::vector<std::string> edges(const CallGraph& graph, const FrameProfile& profile) {
  std::vector<std::string> out;
  for (const CallEdge& edge : graph.edges) {
    out.push_back(display_name(profile, FrameId(edge.from)) + "->" +
                  display_name(profile, FrameId(edge.to)) + " " + std::to_string(edge.weight) +
                  (edge.inlined ? " inlined" : ""));
  }
  return out;
}

TEST(CallGraphTest, AnEdgeCountsOncePerSampleAndNeverToItself) {
  const FrameProfile profile = frames(batch_from({{"a;b;a;b;b", 5}, {"a;c", 1}}));
  EXPECT_EQ(edges(build_call_graph(profile, TopOrder::kByFlat), profile),
            (std::vector<std::string>{"a->b 5", "b->a 5", "a->c 1"}));
}

TEST(CallGraphTest, EdgesAreInlinedOnlyIfAllCallsAre) {
  const FrameProfile profile = frames(batch_from({{"a>b", 5}, {"a>c", 2}, {"a;c", 2}}));
  EXPECT_EQ(edges(build_call_graph(profile, TopOrder::kByFlat), profile),
            (std::vector<std::string>{"a->b 5 inlined", "a->c 4"}));
}

TEST(CallGraphTest, CallersAndCalleesComeByWeight) {
  const FrameProfile profile =
      frames(batch_from({{"a;x;p", 1}, {"b;x;q", 7}, {"c;x;q", 3}, {"d", 1}}));
  const CallGraph graph = build_call_graph(profile, TopOrder::kByFlat);
  const uint32_t x = test::frame_named(profile, "x").value;
  std::string callers;
  for (const CallEdge& edge : graph.callers_of(x))
    callers += display_name(profile, FrameId(edge.from));
  EXPECT_EQ(callers, "bca");
  std::string callees;
  for (const CallEdge& edge : graph.callees_of(x))
    callees += display_name(profile, FrameId(edge.to));
  EXPECT_EQ(callees, "qp");
  EXPECT_TRUE(graph.callers_of(test::frame_named(profile, "d").value).empty());
  EXPECT_TRUE(graph.callees_of(test::frame_named(profile, "d").value).empty());
}

// What comes in is what stays plus what goes out, where nothing recurs.
TEST(CallGraphTest, WeightIsConservedAtEveryNode) {
  const FrameProfile profile =
      frames(batch_from({{"a;b;c", 3}, {"a;b;d", 4}, {"a;c", 5}, {"b;d", 6}}));
  const CallGraph graph = build_call_graph(profile, TopOrder::kByFlat);
  for (const FunctionRow& node : graph.nodes.rows) {
    int64_t out = node.flat;
    for (const CallEdge& edge : graph.callees_of(node.name)) out += edge.weight;
    EXPECT_EQ(out, node.cum) << display_name(profile, FrameId(node.name));
  }
}

// Paths of the tree with their self weight, found by walking it.
std::map<std::string, int64_t> paths(const FlameTree& tree, TreeDirection direction) {
  std::map<std::string, int64_t> out;
  for (uint32_t node = 0; node < tree.size(); ++node) {
    if (tree.weights.self[node] == 0) continue;
    std::vector<std::string> names;
    for (uint32_t at = node; at != 0; at = tree.parent[at]) names.push_back(tree.text(at));
    if (direction == TreeDirection::kTopDown) std::ranges::reverse(names);
    out[fmt::format("{}", fmt::join(names, ";"))] += tree.weights.self[node];
  }
  return out;
}

TEST(ListedTreeTest, HoldsEveryStackInBothDirections) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const FrameProfile profile = frames(random_batch(seed));
    for (const auto direction : {TreeDirection::kTopDown, TreeDirection::kBottomUp})
      EXPECT_EQ(paths(build_flame_tree(profile, direction), direction), test::folded(profile));
  }
}

TEST(ListedTreeTest, TotalsAreSelfPlusChildrenAndParentsComeFirst) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const FlameTree tree = build_flame_tree(frames(random_batch(seed)), TreeDirection::kTopDown);
    const Children children(tree.parent);
    std::set<uint32_t> reached = {0};
    for (uint32_t node = 0; node < tree.size(); ++node) {
      int64_t sum = tree.weights.self[node];
      int64_t last = std::numeric_limits<int64_t>::max();
      std::set<uint32_t> seen;
      for (const uint32_t child : children.of(node)) {
        EXPECT_EQ(tree.parent[child], node);
        EXPECT_GT(child, node);
        EXPECT_LE(tree.weights.total[child], last);
        EXPECT_TRUE(seen.insert(tree.name[child]).second) << "a function twice under one caller";
        last = tree.weights.total[child];
        sum += last;
        reached.insert(child);
      }
      EXPECT_EQ(sum, tree.weights.total[node]);
    }
    EXPECT_EQ(reached.size(), tree.size());
  }
}

TEST(ListedTreeTest, InlinedAndCalledFramesAreOneNode) {
  const FrameProfile profile = frames(batch_from({{"main>work", 1}, {"main;work", 2}}));
  const FlameTree tree = build_flame_tree(profile, TreeDirection::kTopDown);
  ASSERT_EQ(tree.size(), 3u);
  EXPECT_EQ(tree.weights.total[2], 3);
  EXPECT_EQ(tree.inlined[2], 0);
}

TEST(ListedTreeTest, AnEmptyProfileIsARoot) {
  EXPECT_EQ(build_flame_tree(frames(batch_from({})), TreeDirection::kTopDown).size(), 1u);
}

}  // namespace
}  // namespace vesta
