// Reports of selections against those of files, on the same data.
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <map>
#include <set>

#include "profile/flame_tree.h"
#include "profile/prune.h"
#include "profile/test_profiles.h"
#include "reports/call_graph.h"
#include "reports/callers.h"
#include "reports/diff.h"
#include "reports/function_table.h"
#include "reports/test_selection.h"

namespace vesta {
namespace {

using Pairs = std::map<std::string, std::pair<int64_t, int64_t>>;

ProfileBatch one_profile(uint64_t seed) {
  test::RandomOptions options;
  options.profiles = 1;
  options.samples = 120;
  options.mappings = 0;  // seeds disagree on the paths of binaries
  ProfileBatch batch = test::random_batch(seed, options);
  batch.profiles[0].drop_frames = {};
  batch.profiles[0].default_type = 0;
  return batch;
}

Pairs rows_of(const FunctionTable& table) {
  Pairs out;
  for (const FunctionRow& row : table.rows) out[table.names->text(row.name)] = {row.flat, row.cum};
  return out;
}

Pairs rows_of(const FrameProfile& profile) {
  Pairs out;
  for (const FunctionRow& row : function_table(profile).rows) {
    auto& sums = out[display_name(profile, FrameId(row.name))];
    sums.first += row.flat;
    sums.second += row.cum;
  }
  return out;
}

// "a;b;c" -> total and self of every node.
Pairs nodes_of(const FlameTree& tree) {
  Pairs out;
  for (uint32_t node = 1; node < tree.size(); ++node) {
    std::string path;
    for (uint32_t at = node; at != 0; at = tree.parent[at]) path.insert(0, tree.text(at) + ";");
    out[path] = {tree.weights.total[node], tree.weights.self[node]};
  }
  return out;
}

Pairs nodes_of(const FrameProfile& profile, TreeDirection direction) {
  return nodes_of(build_flame_tree(profile, direction));
}

TEST(FlameTree, IsTheCallTreeOfFiles) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const ProfileBatch batch = one_profile(seed);
    const FlameTree tree = build_flame_tree(test::selection_from(batch), {});
    EXPECT_EQ(nodes_of(tree), nodes_of(test::frames(batch), TreeDirection::kTopDown));
    EXPECT_EQ(nodes_of(inverted(tree)), nodes_of(test::frames(batch), TreeDirection::kBottomUp));
    EXPECT_EQ(tree.whole, tree.weights.total[0]);
  }
}

TEST(FlameTree, PutsServicesTogetherByName) {
  const auto one = test::batch_from({{"main;a;b", 1}, {"main;c", 2}});
  const auto two = test::batch_from({{"main;a", 4}, {"start;a", 8}});
  const FlameTree tree = build_flame_tree(test::selection_from({{"one", &one}, {"two", &two}}), {});
  EXPECT_EQ(nodes_of(tree), (Pairs{{"main;", {7, 0}},
                                   {"main;a;", {5, 4}},
                                   {"main;a;b;", {1, 1}},
                                   {"main;c;", {2, 2}},
                                   {"start;", {8, 0}},
                                   {"start;a;", {8, 8}}}));
}

TEST(FlameTree, KeepsStacksWithoutFramesAtTheRoot) {
  const auto batch = test::batch_from({{"main", 1}});
  Selection selection = test::selection_from(batch);
  selection.services[0].weights.push_back(5);
  selection.services[0].tree.add_stack({});
  const FlameTree tree = build_flame_tree(selection, {});
  EXPECT_EQ(tree.weights.self[0], 5);
  EXPECT_EQ(tree.weights.total[0], 6);
}

TEST(FlameTree, GivesTheSubtreeAtAPath) {
  const auto batch = test::batch_from({{"main;a;b", 1}, {"main;a;c;b", 2}, {"main;b", 4}});
  const FlameTree tree = build_flame_tree(test::selection_from(batch), {});
  const auto part = subtree(tree, std::vector<std::string>{"main", "a"});
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->text(0), "a");
  EXPECT_EQ(part->weights.total[0], 3);
  EXPECT_EQ(nodes_of(*part), (Pairs{{"b;", {1, 1}}, {"c;", {2, 0}}, {"c;b;", {2, 2}}}));
  const auto nothing = subtree(tree, std::vector<std::string>{"main", "x"});
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(nothing.error().message, "no frame 'x' under 'main'");
}

TEST(FlameTree, GroupsByFileAndBinary) {
  const auto batch = test::batch_from({{"main@m.cc:1;a@a.cc:2;b@a.cc:3", 1}});
  const Selection selection = test::selection_from(batch);
  EXPECT_EQ(nodes_of(build_flame_tree(selection, {Granularity::kFile, {}})),
            (Pairs{{"m.cc;", {1, 0}}, {"m.cc;a.cc;", {1, 0}}, {"m.cc;a.cc;a.cc;", {1, 1}}}));
  EXPECT_EQ(nodes_of(build_flame_tree(selection, {Granularity::kLine, {}})),
            (Pairs{{"main m.cc:1;", {1, 0}},
                   {"main m.cc:1;a a.cc:2;", {1, 0}},
                   {"main m.cc:1;a a.cc:2;b a.cc:3;", {1, 1}}}));
  EXPECT_EQ(rows_of(function_table(selection, {Granularity::kBinary, {}})),
            (Pairs{{"<unknown>", {1, 1}}}));
}

TEST(Prune, AccountsForAllThatWasCut) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const FlameTree tree = build_flame_tree(test::selection_from(one_profile(seed)), {});
    for (const size_t budget : {1UL, 2UL, 5UL, 20UL, 100UL, 100'000UL, 0UL}) {
      const PrunedTree pruned = prune(tree, budget);
      EXPECT_LE(pruned.nodes.size(), budget == 0 ? tree.size() : budget);
      EXPECT_EQ(pruned.nodes.size() + pruned.total_cut_nodes, tree.size());
      std::vector<int64_t> sum(pruned.nodes.size());
      uint64_t cut_nodes = 0;
      int64_t cut_weight = 0;
      for (size_t i = 0; i < pruned.nodes.size(); ++i) {
        sum[i] += tree.weights.self[pruned.nodes[i]] + pruned.cut_weight[i];
        cut_nodes += pruned.cut_nodes[i];
        cut_weight += pruned.cut_weight[i];
        if (i == 0) continue;
        EXPECT_LT(pruned.parent[i], i);
        EXPECT_EQ(tree.parent[pruned.nodes[i]], pruned.nodes[pruned.parent[i]]);
        sum[pruned.parent[i]] += tree.weights.total[pruned.nodes[i]];
      }
      for (size_t i = 0; i < sum.size(); ++i)
        EXPECT_EQ(sum[i], tree.weights.total[pruned.nodes[i]]);
      EXPECT_EQ(cut_nodes, pruned.total_cut_nodes);
      EXPECT_EQ(cut_weight, pruned.total_cut_weight);
    }
  }
}

TEST(Prune, KeepsLargeSelfWeightsBehindLongChains) {
  std::string chain = "root";
  for (int i = 0; i < 60; ++i) chain += ";wrapper" + std::to_string(i);
  const std::string deep = chain + ";leaf";
  const auto batch = test::batch_from({{deep, 100}, {"root;other;hot", 90}, {"root;x", 1}});
  const FlameTree tree = build_flame_tree(test::selection_from(batch), {});
  const PrunedTree pruned = prune(tree, 40);
  std::set<std::string> left;
  for (const uint32_t node : pruned.nodes) left.insert(tree.text(node));
  EXPECT_TRUE(left.contains("hot"));
  EXPECT_LE(pruned.nodes.size(), 40U);
  EXPECT_EQ(pruned.total_cut_weight, 100);
}

TEST(Prune, PutsChildrenInOrderOfNames) {
  const auto batch = test::batch_from({{"c", 1}, {"a;z", 2}, {"a;y", 3}, {"b", 9}});
  const FlameTree tree = build_flame_tree(test::selection_from(batch), {});
  std::string order;
  for (const uint32_t node : prune(tree, 0).nodes) order += tree.text(node) + " ";
  EXPECT_EQ(order, "total a y z b c ");
}

TEST(FunctionTable, IsTheTopTableOfFiles) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const ProfileBatch batch = one_profile(seed);
    const Selection selection = test::selection_from(batch);
    EXPECT_EQ(rows_of(function_table(selection, {})), rows_of(test::frames(batch)));
    EXPECT_EQ(rows_of(function_table(build_flame_tree(selection, {}))),
              rows_of(test::frames(batch)));
    FrameOptions options;
    options.granularity = Granularity::kLine;
    EXPECT_EQ(rows_of(function_table(selection, {Granularity::kLine, {}})),
              rows_of(test::frames(batch, options)));
  }
}

std::map<std::string, InlineUse> inline_uses(const FunctionTable& table) {
  std::map<std::string, InlineUse> out;
  for (const FunctionRow& row : table.rows) {
    const std::string name = table.names->text(row.name);
    if (!name.starts_with('[')) out[name] = row.inlined;  // several binaries may look alike
  }
  return out;
}

TEST(FunctionTable, MarksInlinedFunctionsAsFilesDo) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const ProfileBatch batch = one_profile(seed);
    const Selection selection = test::selection_from(batch);
    const auto expected = inline_uses(function_table(test::frames(batch)));
    FunctionTable table = function_table(selection, {});
    mark_inlined(table, selection);
    EXPECT_EQ(inline_uses(table), expected);
    TreeOptions options;
    options.marks_inlined = true;
    EXPECT_EQ(inline_uses(top_functions(selection, options, {.marks_inlined = true})), expected);
  }
  const auto batch = test::batch_from({{"main>always;x", 1}, {"a>b;a;b", 1}, {"c;d;c>d", 1}});
  const auto uses =
      inline_uses(top_functions(test::selection_from(batch), {}, {.marks_inlined = true}));
  EXPECT_EQ(uses.at("always"), InlineUse::kAlways);
  EXPECT_EQ(uses.at("b"), InlineUse::kAlways);
  EXPECT_EQ(uses.at("d"), InlineUse::kNever);
}

TEST(FunctionTable, CountsInlinedFunctionsAsTheirCallersWhenAsked) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const ProfileBatch batch = one_profile(seed);
    FrameOptions frames;
    frames.inlines = false;
    TreeOptions options;
    options.inlines = false;
    EXPECT_EQ(rows_of(function_table(test::selection_from(batch), options)),
              rows_of(test::frames(batch, frames)));
  }
}

TEST(FunctionTable, GroupsByFileAndFunction) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const ProfileBatch batch = one_profile(seed);
    FrameOptions frames;
    frames.granularity = Granularity::kFileFunction;
    EXPECT_EQ(
        rows_of(function_table(test::selection_from(batch), {Granularity::kFileFunction, {}})),
        rows_of(test::frames(batch, frames)));
  }
}

TEST(FunctionTable, CutsSmallRows) {
  const auto batch = test::batch_from({{"main;a", 90}, {"main;b", 9}, {"main;c", 1}});
  const FunctionTable table =
      top_functions(test::selection_from(batch), {}, {.limit = 2, .min_share = 0.05});
  EXPECT_EQ(rows_of(table), (Pairs{{"a", {90, 90}}, {"b", {9, 9}}}));
  EXPECT_EQ(table.cut_rows, 2U);
  EXPECT_EQ(table.cut_flat, 1);
}

TEST(FunctionTable, CountsRecursionOnceAndServicesTogether) {
  const auto one = test::batch_from({{"main;a;b;a", 1}, {"main;a", 2}});
  const auto two = test::batch_from({{"main;a", 4}});
  FunctionTable table = function_table(test::selection_from({{"one", &one}, {"two", &two}}), {});
  EXPECT_EQ(rows_of(table), (Pairs{{"main", {0, 7}}, {"a", {7, 7}}, {"b", {0, 1}}}));
  sort_rows(table, TopOrder::kByCum, 2);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.names->text(table.rows[0].name), "a");  // ties by name
  EXPECT_EQ(table.names->text(table.rows[1].name), "main");
  EXPECT_EQ(table.cut_rows, 1U);
  EXPECT_EQ(table.cut_flat, 0);
}

std::map<std::string, uint32_t> callers_of(const FunctionTable& table) {
  std::map<std::string, uint32_t> out;
  for (const FunctionRow& row : table.rows) out[table.names->text(row.name)] = row.callers;
  return out;
}

TEST(TopFunctions, CountDirectCallers) {
  const auto one = test::batch_from({{"main;a;b;a", 1}, {"main;c;a", 2}, {"a", 3}});
  const auto two = test::batch_from({{"start;a", 4}, {"start;start;b", 4}});
  const Selection selection = test::selection_from({{"one", &one}, {"two", &two}});
  const std::map<std::string, uint32_t> expected = {
      {"main", 0}, {"a", 4}, {"b", 2}, {"c", 1}, {"start", 0}};
  EXPECT_EQ(callers_of(top_functions(selection, {}, {})), expected);
  FunctionTable table = function_table(build_flame_tree(selection, {}));
  count_callers(table, build_flame_tree(selection, {}));
  EXPECT_EQ(callers_of(table), expected);
}

TEST(TopFunctions, HaveTheCallersOfTheirViews) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Selection selection = test::selection_from(one_profile(seed));
    const FlameTree tree = build_flame_tree(selection, {});
    const FunctionTable table = top_functions(selection, {}, {});
    for (const FunctionRow& row : table.rows) {
      const auto name = find_name(*tree.names, table.names->text(row.name));
      const FunctionView view = view_function(tree, *name);
      const auto callers = std::ranges::count_if(
          view.callers, [](const CallWeight& call) { return call.name != 0; });
      EXPECT_EQ(row.callers, callers) << table.names->text(row.name);
    }
  }
}

TEST(TopFunctions, AreChosenByNameAndPlace) {
  const auto batch = test::batch_from({{"main;read", 5}, {"main;write", 4}, {"main;reap", 3}});
  const Selection selection = test::selection_from(batch);
  RowChoice choice;
  choice.match = std::make_shared<RE2>("^re");
  FunctionTable table = top_functions(selection, {}, choice);
  EXPECT_EQ(rows_of(table), (Pairs{{"read", {5, 5}}, {"reap", {3, 3}}}));
  EXPECT_EQ(table.cut_rows, 0U);
  choice.offset = 1;
  table = top_functions(selection, {}, choice);
  EXPECT_EQ(rows_of(table), (Pairs{{"reap", {3, 3}}}));
  EXPECT_EQ(table.cut_rows, 1U);
  EXPECT_EQ(table.cut_flat, 5);
  choice = {TopOrder::kByFlat, 1, 1, nullptr};
  table = top_functions(selection, {}, choice);
  EXPECT_EQ(rows_of(table), (Pairs{{"write", {4, 4}}}));
  EXPECT_EQ(table.cut_rows, 3U);
  EXPECT_EQ(table.cut_flat, 8);
  choice = {TopOrder::kByFlat, 1, SIZE_MAX, nullptr};
  table = top_functions(selection, {}, choice);
  EXPECT_TRUE(table.rows.empty());
  EXPECT_EQ(table.cut_rows, 4U);
}

TEST(Callers, AreThoseOfTheCallGraph) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const ProfileBatch batch = one_profile(seed);
    const FrameProfile frames = test::frames(batch);
    const CallGraph graph = build_call_graph(frames, TopOrder::kByFlat);
    const FlameTree tree = build_flame_tree(test::selection_from(batch), {});
    for (const FunctionRow& row : graph.nodes.rows) {
      const std::string name = display_name(frames, FrameId(row.name));
      if (name.starts_with('[')) continue;  // several binaries may look alike
      const auto id = find_name(*tree.names, name);
      ASSERT_TRUE(id) << name;
      const FunctionView view = view_function(tree, *id);
      EXPECT_EQ(view.flat, row.flat);
      EXPECT_EQ(view.cum, row.cum);
      EXPECT_EQ(view.caller_tree.weights.total[0], row.cum);
      EXPECT_EQ(view.callee_tree.weights.total[0], row.cum);
      EXPECT_EQ(view.callee_tree.text(0), name);
      std::map<std::string, int64_t> callers, callees, expected_callers, expected_callees;
      for (const CallWeight& call : view.callers)
        if (call.name != 0) callers[tree.names->text(call.name)] = call.weight;
      for (const CallWeight& call : view.callees)
        callees[tree.names->text(call.name)] = call.weight;
      for (const CallEdge& edge : graph.callers_of(row.name))
        expected_callers[display_name(frames, FrameId(edge.from))] += edge.weight;
      for (const CallEdge& edge : graph.callees_of(row.name))
        expected_callees[display_name(frames, FrameId(edge.to))] += edge.weight;
      std::erase_if(callers, [](const auto& e) { return e.first.starts_with('['); });
      std::erase_if(callees, [](const auto& e) { return e.first.starts_with('['); });
      std::erase_if(expected_callers, [](const auto& e) { return e.first.starts_with('['); });
      std::erase_if(expected_callees, [](const auto& e) { return e.first.starts_with('['); });
      EXPECT_EQ(callers, expected_callers) << name;
      EXPECT_EQ(callees, expected_callees) << name;
    }
  }
}

TEST(CallGraph, OfATreeIsThatOfFiles) {
  const auto edges = [](const CallGraph& graph) {
    std::map<std::string, std::pair<int64_t, bool>> out;
    for (const CallEdge& edge : graph.edges) {
      const std::string from = graph.nodes.names->text(edge.from);
      const std::string to = graph.nodes.names->text(edge.to);
      if (from.starts_with('[') || to.starts_with('[')) continue;
      out[from + ">" + to] = {edge.weight, edge.inlined};
    }
    return out;
  };
  TreeOptions options;
  options.marks_inlined = true;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const ProfileBatch batch = one_profile(seed);
    const FlameTree tree = build_flame_tree(test::selection_from(batch), options);
    EXPECT_EQ(edges(build_call_graph(tree, TopOrder::kByCum)),
              edges(build_call_graph(test::frames(batch), TopOrder::kByCum)));
  }
}

TEST(Callers, SeeRecursionOnce) {
  const auto batch = test::batch_from({{"main;f;g;f;h", 1}, {"f", 2}});
  const FlameTree tree = build_flame_tree(test::selection_from(batch), {});
  const FunctionView view = view_function(tree, *find_name(*tree.names, "f"));
  EXPECT_EQ(view.flat, 2);
  EXPECT_EQ(view.cum, 3);
  EXPECT_EQ(nodes_of(view.caller_tree), (Pairs{{"main;", {1, 1}}}));
  EXPECT_EQ(view.caller_tree.weights.self[0], 2);  // called by nobody
  EXPECT_EQ(nodes_of(view.callee_tree),
            (Pairs{{"g;", {1, 0}}, {"g;f;", {1, 0}}, {"g;f;h;", {1, 1}}}));
}

TEST(Compare, IsTheDiffOfFiles) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const ProfileBatch before = one_profile(seed);
    const ProfileBatch after = one_profile(seed + 100);
    for (const bool normalized : {false, true}) {
      const auto frames = compare_profiles(
          before, after, "cpu", normalized ? DiffScale::kNormalized : DiffScale::kAbsolute, {});
      ASSERT_TRUE(frames.ok());
      const FlameTree tree =
          build_flame_tree(test::selection_from(before), test::selection_from(after),
                           normalized ? CompareScale::kNormalized : CompareScale::kAbsolute, {});
      FunctionTable table = function_table(tree);
      EXPECT_TRUE(table.has_baseline);
      std::map<std::string, std::array<int64_t, 4>> rows;
      std::map<std::string, std::array<int64_t, 4>> expected;
      for (const FunctionRow& row : table.rows) {
        rows[table.names->text(row.name)] = {row.flat, row.cum, row.baseline_flat,
                                             row.baseline_cum};
      }
      for (const FunctionRow& row : diff_table(*frames).rows) {
        auto& sums = expected[display_name(*frames, FrameId(row.name))];
        sums[0] += row.flat;
        sums[1] += row.cum;
        sums[2] += row.baseline_flat;
        sums[3] += row.baseline_cum;
      }
      if (!normalized) {
        EXPECT_EQ(rows, expected);
        continue;
      }
      // Rounding is carried in the order of stacks, which differs; whole totals do not.
      EXPECT_NEAR(static_cast<double>(tree.weights.total[0]),
                  static_cast<double>(tree.baseline.total[0]), 1);
      for (const auto& [name, sums] : expected)
        EXPECT_NEAR(static_cast<double>(rows[name][0]), static_cast<double>(sums[0]), 30) << name;
    }
  }
}

TEST(Compare, SortsByTheSizeOfTheChange) {
  const auto before = test::batch_from({{"main;a", 10}, {"main;b", 10}, {"main;gone", 3}});
  const auto after = test::batch_from({{"main;a", 11}, {"main;b", 2}});
  FunctionTable table = function_table(build_flame_tree(
      test::selection_from(before), test::selection_from(after), CompareScale::kAbsolute, {}));
  sort_rows(table, TopOrder::kByFlat, 2);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.names->text(table.rows[0].name), "b");
  EXPECT_EQ(table.rows[0].flat_delta(), -8);
  EXPECT_EQ(table.names->text(table.rows[1].name), "gone");
  EXPECT_EQ(table.cut_rows, 2U);
  EXPECT_EQ(table.cut_flat_delta, 1);
}

}  // namespace
}  // namespace vesta
