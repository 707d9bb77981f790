// Top tables, call graphs, call trees and source lines. The figures were checked against
// `go tool pprof`, where it has them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "profile/call_graph.h"
#include "profile/call_tree.h"
#include "profile/dictionary_builder.h"
#include "profile/source_lines.h"
#include "profile/test_profiles.h"
#include "profile/top_table.h"

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
  for (const TopRow& row : top_table(profile, order))
    out.emplace_back(display_name(profile, row.frame), Figures{row.flat, row.cum});
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
      for (const TopRow& row : top_table(profile, TopOrder::kByCum)) {
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
  for (const TopRow& row : top_table(profile, TopOrder::kByFlat))
    out[display_name(profile, row.frame)] = row.inlined;
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
    out.push_back(display_name(profile, edge.from) + "->" + display_name(profile, edge.to) + " " +
                  std::to_string(edge.weight) + (edge.inlined ? " inlined" : ""));
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
  const FrameId x = test::frame_named(profile, "x");
  std::string callers;
  for (const CallEdge& edge : graph.callers_of(x)) callers += display_name(profile, edge.from);
  EXPECT_EQ(callers, "bca");
  std::string callees;
  for (const CallEdge& edge : graph.callees_of(x)) callees += display_name(profile, edge.to);
  EXPECT_EQ(callees, "qp");
  EXPECT_TRUE(graph.callers_of(test::frame_named(profile, "d")).empty());
  EXPECT_TRUE(graph.callees_of(test::frame_named(profile, "d")).empty());
}

// What comes in is what stays plus what goes out, where nothing recurs.
TEST(CallGraphTest, WeightIsConservedAtEveryNode) {
  const FrameProfile profile =
      frames(batch_from({{"a;b;c", 3}, {"a;b;d", 4}, {"a;c", 5}, {"b;d", 6}}));
  const CallGraph graph = build_call_graph(profile, TopOrder::kByFlat);
  for (const TopRow& node : graph.nodes) {
    int64_t out = node.flat;
    for (const CallEdge& edge : graph.callees_of(node.frame)) out += edge.weight;
    EXPECT_EQ(out, node.cum) << display_name(profile, node.frame);
  }
}

// Paths of the tree with their self weight, found by walking it.
std::map<std::string, int64_t> paths(const CallTree& tree, const FrameProfile& profile,
                                     TreeDirection direction) {
  std::map<std::string, int64_t> out;
  for (const CallTree::Node& node : tree.nodes) {
    if (node.self == 0) continue;
    std::vector<std::string> names;
    for (const CallTree::Node* at = &node; at->parent != CallTree::kNone;
         at = &tree.nodes[at->parent]) {
      names.push_back(display_name(profile, at->frame.frame()));
    }
    if (direction == TreeDirection::kTopDown) std::ranges::reverse(names);
    const std::string path = fmt::format("{}", fmt::join(names, ";"));
    out[path] += node.self;
  }
  return out;
}

TEST(CallTreeTest, HoldsEveryStackInBothDirections) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const FrameProfile profile = frames(random_batch(seed));
    for (const auto direction : {TreeDirection::kTopDown, TreeDirection::kBottomUp}) {
      const CallTree tree = build_call_tree(profile, direction, ChildOrder::kByTotal);
      EXPECT_EQ(paths(tree, profile, direction), test::folded(profile));
    }
  }
}

TEST(CallTreeTest, TotalsAreSelfPlusChildrenAndParentsComeFirst) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const FrameProfile profile = frames(random_batch(seed));
    const CallTree tree = build_call_tree(profile, TreeDirection::kTopDown, ChildOrder::kByTotal);
    std::set<uint32_t> reached = {0};
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < tree.nodes.size(); ++i) {
      const CallTree::Node& node = tree.nodes[i];
      int64_t sum = node.self;
      int64_t last = std::numeric_limits<int64_t>::max();
      std::set<FrameId> seen;
      for (uint32_t child = node.first_child; child != CallTree::kNone;
           child = tree.nodes[child].next_sibling) {
        const CallTree::Node& c = tree.nodes[child];
        EXPECT_EQ(c.parent, i);
        EXPECT_GT(child, i);
        EXPECT_EQ(c.depth, node.depth + 1);
        EXPECT_LE(c.total, last);
        EXPECT_TRUE(seen.insert(c.frame.frame()).second) << "a function twice under one caller";
        last = c.total;
        sum += c.total;
        reached.insert(child);
      }
      EXPECT_EQ(sum, node.total);
      deepest = std::max(deepest, node.depth);
    }
    EXPECT_EQ(reached.size(), tree.nodes.size());
    EXPECT_EQ(tree.max_depth, deepest);
  }
}

TEST(CallTreeTest, ChildrenComeByNameIfAsked) {
  const FrameProfile profile = frames(batch_from({{"b", 9}, {"a", 1}, {"c", 5}}));
  const auto names = [&](ChildOrder order) {
    const CallTree tree = build_call_tree(profile, TreeDirection::kTopDown, order);
    std::string out;
    for (uint32_t at = tree.root().first_child; at != CallTree::kNone;
         at = tree.nodes[at].next_sibling)
      out += display_name(profile, tree.nodes[at].frame.frame());
    return out;
  };
  EXPECT_EQ(names(ChildOrder::kByName), "abc");
  EXPECT_EQ(names(ChildOrder::kByTotal), "bca");
}

TEST(CallTreeTest, InlinedAndCalledFramesAreOneNode) {
  const FrameProfile profile = frames(batch_from({{"main>work", 1}, {"main;work", 2}}));
  const CallTree tree = build_call_tree(profile, TreeDirection::kTopDown, ChildOrder::kByTotal);
  ASSERT_EQ(tree.nodes.size(), 3u);
  EXPECT_EQ(tree.nodes[2].total, 3);
  EXPECT_FALSE(tree.nodes[2].frame.inlined());
}

TEST(CallTreeTest, AnEmptyProfileIsARoot) {
  const CallTree tree =
      build_call_tree(frames(batch_from({})), TreeDirection::kTopDown, ChildOrder::kByTotal);
  ASSERT_EQ(tree.nodes.size(), 1u);
  EXPECT_EQ(tree.root().first_child, CallTree::kNone);
}

TEST(SourceLinesTest, LinesCountOncePerSample) {
  const MergedProfile profile = test::merged(batch_from({{"main@m.cc:1;fib@f.cc:3;fib@f.cc:4", 5},
                                                         {"main@m.cc:2;fib@f.cc:3", 2},
                                                         {"main@m.cc:2", 1}}));
  const auto functions = source_lines(profile, {}, "fib|main");
  ASSERT_TRUE(functions.ok());
  ASSERT_EQ(functions->size(), 2u);
  const FunctionLines& fib = (*functions)[0];
  EXPECT_EQ(fib.function, "fib");
  EXPECT_EQ(fib.file, "f.cc");
  EXPECT_EQ(fib.flat, 7);
  EXPECT_EQ(fib.cum, 7);
  EXPECT_EQ(fib.lines.at(3).flat, 2);
  EXPECT_EQ(fib.lines.at(3).cum, 7);
  EXPECT_EQ(fib.lines.at(4).flat, 5);
  EXPECT_EQ(fib.lines.at(4).cum, 5);
  EXPECT_EQ((*functions)[1].lines.at(2).cum, 3);
  EXPECT_EQ((*functions)[1].flat, 1);
}

TEST(SourceLinesTest, OnlyFunctionsThatMatchAreListed) {
  const MergedProfile profile = test::merged(batch_from({{"main@m.cc:1;work@w.cc:3", 5}}));
  EXPECT_EQ(source_lines(profile, {}, "^wor")->size(), 1u);
  EXPECT_EQ(source_lines(profile, {}, "w.cc")->size(), 0u);
  FrameFilters filters;
  filters.hide = {"work"};
  EXPECT_EQ(source_lines(profile, filters, "work")->size(), 0u);
  EXPECT_EQ(source_lines(profile, {}, "(").error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace vesta
