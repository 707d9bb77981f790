// Reports over the synthetic fleet: services of 20 000 stacks, about 111 000 tree nodes, 15 000
// frames and 5 000 functions each.
#include <benchmark/benchmark.h>

#include <fmt/format.h>

#include <map>
#include <random>

#include "profile/prune.h"
#include "reports/function_table.h"
#include "reports/selection_profile.h"

namespace vesta {
namespace {

ServiceStacks random_service(uint64_t seed) {
  constexpr uint32_t kFunctions = 5000;
  constexpr uint32_t kLinesPerFunction = 3;
  constexpr size_t kStacks = 20'000;
  constexpr size_t kNodes = 111'000;
  std::mt19937_64 random(seed);
  ServiceStacks out;
  out.service = fmt::format("service-{}", seed);
  StackTree& tree = out.tree;
  std::vector<TreeFrame> frames;
  for (uint32_t f = 0; f < kFunctions; ++f) {
    // A third of the functions is shared by all services, as libraries are.
    const uint64_t owner = f % 3 == 0 ? 0 : seed;
    const TreeString name = tree.add_string(
        fmt::format("company::service{}::module{}::Class{}::method_{}(int, char const*)", owner,
                    f % 40, f % 300, f));
    const TreeString file = tree.add_string(fmt::format("/src/module{}/class{}.cc", f % 40, f));
    for (uint32_t l = 0; l < kLinesPerFunction; ++l) {
      StoredFrame frame;
      frame.name = frame.shown = name;
      frame.file = file;
      frame.line = 10 + l;
      frames.push_back(tree.add_frame(frame));
    }
  }
  std::map<std::pair<NameNode, TreeString>, NameNode> by_name;
  const auto add = [&](TreeNode parent) {
    const TreeFrame frame = frames[random() % frames.size()];
    const NameNode above = parent ? tree.name_node(parent) : NameNode();
    const auto [at, is_new] =
        by_name.try_emplace({above, tree.stored_frame(frame).shown}, NameNode());
    if (is_new) at->second = tree.add_name_node(above, frame);
    return tree.add_node(parent, frame, at->second);
  };
  std::vector<uint32_t> depth{0};
  while (tree.node_count() < kNodes) {
    // A branch from somewhere above, down to a depth of about 30.
    TreeNode node(tree.node_count() < 50 ? 0 : random() % tree.node_count());
    const size_t length = 1 + random() % 10;
    for (size_t i = 0; i < length && depth[node.index()] < 60; ++i) {
      const TreeNode child = add(node);
      depth.push_back(depth[node.index()] + 1);
      node = child;
    }
  }
  for (size_t i = 0; i < kStacks; ++i) {
    tree.add_stack(TreeNode(1 + random() % (tree.node_count() - 1)));
    out.weights.push_back(static_cast<int64_t>(1'000'000'000 / (1 + random() % kStacks)));
  }
  return out;
}

const Selection& fleet(size_t services) {
  static std::map<size_t, Selection> made;
  auto [at, is_new] = made.try_emplace(services);
  if (is_new) {
    for (size_t i = 0; i < services; ++i) {
      at->second.services.push_back(random_service(i + 1));
      for (const int64_t weight : at->second.services.back().weights) at->second.total += weight;
    }
  }
  return at->second;
}

void flame_of_service(benchmark::State& state) {
  const Selection& selection = fleet(1);
  while (state.KeepRunning()) {
    const FlameTree tree = build_flame_tree(selection, {});
    benchmark::DoNotOptimize(prune(tree, 4000).nodes.size());
  }
}
BENCHMARK(flame_of_service)->Unit(benchmark::kMillisecond);

void filtered_flame_of_service(benchmark::State& state) {
  const Selection& selection = fleet(1);
  FrameFilters filters;
  filters.focus = {"module1"};
  filters.hide = {"method_1.*7"};
  TreeOptions options;
  options.filter = StackFilter::compile(filters).value_or({});
  while (state.KeepRunning()) {
    const FlameTree tree = build_flame_tree(selection, options);
    benchmark::DoNotOptimize(prune(tree, 4000).nodes.size());
  }
}
BENCHMARK(filtered_flame_of_service)->Unit(benchmark::kMillisecond);

void batch_of_service(benchmark::State& state) {
  const Selection& selection = fleet(1);
  while (state.KeepRunning()) benchmark::DoNotOptimize(to_profile_batch(selection).profiles.size());
}
BENCHMARK(batch_of_service)->Unit(benchmark::kMillisecond);

void top_of_fleet(benchmark::State& state) {
  const Selection& selection = fleet(static_cast<size_t>(state.range(0)));
  while (state.KeepRunning()) {
    FunctionTable table = function_table(selection, {});
    sort_rows(table, TopOrder::kByFlat, 50);
    benchmark::DoNotOptimize(table.rows.size());
  }
}
BENCHMARK(top_of_fleet)->Arg(1)->Arg(100)->Unit(benchmark::kMillisecond);

void flame_of_fleet(benchmark::State& state) {
  const Selection& selection = fleet(static_cast<size_t>(state.range(0)));
  while (state.KeepRunning()) {
    const FlameTree tree = build_flame_tree(selection, {});
    benchmark::DoNotOptimize(prune(tree, 4000).nodes.size());
  }
}
BENCHMARK(flame_of_fleet)->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vesta

BENCHMARK_MAIN();
