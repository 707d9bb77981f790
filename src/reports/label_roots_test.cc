#include "reports/label_roots.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"
#include "reports/test_selection.h"

namespace vesta {
namespace {

using Totals = std::map<std::string, int64_t>;

// Totals by path.
Totals totals_of(const FlameTree& tree, const FlameWeights& weights) {
  Totals out;
  for (uint32_t node = 0; node < tree.size(); ++node) {
    std::string path;
    for (uint32_t at = node; at != 0; at = tree.parent[at])
      path.insert(0, tree.text(at) + (path.empty() ? "" : ";"));
    out[path] += weights.total[node];
  }
  return out;
}

Selection of_pod(std::string pod, const std::vector<test::FoldedStack>& stacks) {
  Selection selection = test::selection_from(test::batch_from(stacks));
  if (!pod.empty()) selection.group = {{"pod", std::move(pod)}};
  return selection;
}

FlameTree tree_of(std::vector<Selection> groups, const TreeOptions& options = {}) {
  const LabelledSide side{std::move(groups), {}};
  return build_flame_tree(label_roots("pod", nullptr, side).after, options);
}

TEST(LabelRoots, StacksStandUnderTheirValue) {
  const std::vector<Selection> groups = {of_pod("a", {{"main;x", 1}, {"main;y", 2}}),
                                         of_pod("b", {{"main;x", 4}}), of_pod("", {{"idle", 8}})};
  const FlameTree tree = tree_of(groups);
  EXPECT_EQ(tree.whole, 15);
  EXPECT_EQ(totals_of(tree, tree.weights), (Totals{{"", 15},
                                                   {"pod=a", 3},
                                                   {"pod=a;main", 3},
                                                   {"pod=a;main;x", 1},
                                                   {"pod=a;main;y", 2},
                                                   {"pod=b", 4},
                                                   {"pod=b;main", 4},
                                                   {"pod=b;main;x", 4},
                                                   {"pod=", 8},
                                                   {"pod=;idle", 8}}));
}

TEST(LabelRoots, GroupingAndFiltersWorkBelowTheValues) {
  const std::vector<Selection> groups = {of_pod("a/b", {{"main@m.cc:1;x@x.cc:1", 1}, {"", 2}}),
                                         of_pod("c", {{"main@m.cc:1", 4}})};
  FrameFilters filters;
  filters.focus = {"main"};
  TreeOptions options;
  options.filter = *StackFilter::compile(filters);
  EXPECT_EQ(totals_of(tree_of(groups, options), tree_of(groups, options).weights),
            (Totals{{"", 5},
                    {"pod=a/b", 1},
                    {"pod=a/b;main", 1},
                    {"pod=a/b;main;x", 1},
                    {"pod=c", 4},
                    {"pod=c;main", 4}}));
  const FlameTree by_file = tree_of(groups, {Granularity::kFile, {}});
  EXPECT_EQ(totals_of(by_file, by_file.weights).at("pod=a/b;m.cc;x.cc"), 1);
  EXPECT_EQ(totals_of(by_file, by_file.weights).at("pod=a/b"), 3);
  const FlameTree by_binary = tree_of(groups, {Granularity::kBinary, {}});
  EXPECT_EQ(totals_of(by_binary, by_binary.weights).at("pod=a/b;<unknown>"), 1);
}

TEST(LabelRoots, TurnedRoundTheValuesStayOnTop) {
  const std::vector<Selection> groups = {of_pod("a", {{"main;x", 1}, {"", 2}}),
                                         of_pod("b", {{"main;x", 4}})};
  const FlameTree tree = inverted(tree_of(groups), true);
  EXPECT_EQ(totals_of(tree, tree.weights), (Totals{{"", 7},
                                                   {"pod=a", 3},
                                                   {"pod=a;x", 1},
                                                   {"pod=a;x;main", 1},
                                                   {"pod=b", 4},
                                                   {"pod=b;x", 4},
                                                   {"pod=b;x;main", 4}}));
}

TEST(LabelRoots, BothSidesOfAComparisonMeet) {
  const LabelledSide before{{of_pod("a", {{"main;x", 1}}), of_pod("b", {{"main", 2}})}, {}};
  const LabelledSide after{{of_pod("a", {{"main;x", 4}}), of_pod("c", {{"main", 8}})}, {}};
  const LabelRoots roots = label_roots("pod", &before, after);
  const FlameTree tree = build_flame_tree(roots.before, roots.after, CompareScale::kAbsolute, {});
  EXPECT_EQ(tree.baseline_whole, 3);
  EXPECT_EQ(tree.whole, 12);
  EXPECT_EQ(totals_of(tree, tree.weights).at("pod=a;main;x"), 4);
  EXPECT_EQ(totals_of(tree, tree.baseline).at("pod=a;main;x"), 1);
  EXPECT_EQ(totals_of(tree, tree.baseline).at("pod=c"), 0);
  const FlameTree scaled =
      build_flame_tree(roots.before, roots.after, CompareScale::kNormalized, {});
  EXPECT_EQ(scaled.weights.total[0], 3);
}

TEST(LabelRoots, ValuesBeyondTheLargestShareANode) {
  std::vector<Selection> groups;
  int64_t total = 0;
  for (int i = 1; i <= 250; ++i) {
    groups.push_back(of_pod(fmt::format("p{}", i), {{"main", i}}));
    total += i;
  }
  const FlameTree tree = tree_of(groups);
  const Totals totals = totals_of(tree, tree.weights);
  EXPECT_EQ(totals.at(""), total);
  EXPECT_EQ(totals.at("pod=p250"), 250);
  EXPECT_EQ(totals.at("pod=p52"), 52);
  EXPECT_FALSE(totals.contains("pod=p51"));
  EXPECT_EQ(totals.at("pod=… (51 more);main"), 51 * 52 / 2);
  groups.resize(200);
  const FlameTree all = tree_of(groups);
  EXPECT_EQ(totals_of(all, all.weights).at("pod=p1"), 1);
}

TEST(LabelRoots, SamplesAreSplitByTheirOwnLabels) {
  ProfileBatch batch = test::batch_from({{"main;x", 1}, {"main;x", 2}, {"main", 4}, {"idle", 8}});
  DictionaryBuilder b(batch.dictionary);
  Profile& profile = batch.profiles[0];
  const auto set = [&](const Label& label) { return b.label_set(std::vector<Label>{label}); };
  const Profile plain = profile;
  profile.samples = {};
  const std::array labels = {set(b.text_label("thread", "one")),
                             set(b.number_label("thread", 7, "")),
                             set(b.text_label("thread", "one")), LabelSetId()};
  for (size_t row = 0; row < plain.samples.size(); ++row) {
    const int64_t value = plain.value(row, 0);
    profile.add_sample(plain.samples.stacks[row], std::span<const int64_t>(&value, 1), labels[row]);
  }
  LabelledSide side;
  side.samples = batch;
  const LabelRoots roots = label_roots("thread", nullptr, side);
  ASSERT_EQ(roots.after.size(), 3U);
  const FlameTree tree = build_flame_tree(roots.after, {});
  EXPECT_EQ(totals_of(tree, tree.weights), (Totals{{"", 15},
                                                   {"thread=one", 5},
                                                   {"thread=one;main", 5},
                                                   {"thread=one;main;x", 1},
                                                   {"thread=7", 2},
                                                   {"thread=7;main", 2},
                                                   {"thread=7;main;x", 2},
                                                   {"thread=", 8},
                                                   {"thread=;idle", 8}}));
}

TEST(LabelRoots, PartsAddUpToTheWhole) {
  const auto batch = test::batch_from({{"main;x", 1}, {"main;y", 2}});
  Selection a = test::selection_from(batch);
  Selection b = a;
  a.services[0].weights = {1};
  a.total = 1;
  a.losses = {{"ring full", 1}};
  b.services[0].weights = {0, 2};
  b.total = 2;
  b.losses = {{"ring full", 2}};
  b.first_ns = a.first_ns + 5;
  const Selection both = add_up(std::array{a, b});
  EXPECT_EQ(both.total, 3);
  EXPECT_EQ(both.profiles, 2U);
  EXPECT_EQ(both.first_ns, a.first_ns);
  ASSERT_EQ(both.services.size(), 1U);
  EXPECT_EQ(both.services[0].weights, (std::vector<int64_t>{1, 2}));
  ASSERT_EQ(both.losses.size(), 1U);
  EXPECT_EQ(both.losses[0].count, 3U);
}

TEST(LabelRoots, PiecesOfOneProfileCoverItsTimeOnce) {
  Selection a = test::selection_from(test::batch_from({{"main", 1}}));
  a.covered = {};
  a.covered.add({piece_origin(8, false), 100, 10});
  Selection b = a;
  b.covered.add({piece_origin(8, false), 110, 10});
  b.covered.add_whole(5);
  EXPECT_EQ(add_up(std::array{a, b}).covered.duration_ns(), 25);
}

}  // namespace
}  // namespace vesta
