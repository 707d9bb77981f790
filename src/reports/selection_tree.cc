#include "reports/selection_tree.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/table_hash.h"
#include "profile/carried_rounding.h"
#include "reports/tree_names.h"

namespace vesta {
namespace {

// The weights of one service under each node of its tree by name.
struct NameTotals {
  NameTotals(const StackTree& tree, std::span<const int64_t> weights)
      : self(tree.name_node_count()), used(tree.name_node_count()) {
    const size_t stacks = std::min(weights.size(), tree.stack_count());
    for (const StackNumber stack : Ids<StackNumber>(0, stacks)) {
      if (weights[stack.index()] == 0) continue;
      const TreeNode leaf = tree.leaf(stack);
      const size_t node = leaf ? tree.name_node(leaf).index() : 0;
      self[node] = saturating_add(self[node], weights[stack.index()]);
      used[node] = 1;
    }
    for (size_t node = used.size(); node-- > 1;) {
      if (used[node] != 0) used[tree.name_parent(NameNode(node)).index()] = 1;
    }
  }
  std::vector<int64_t> self;
  std::vector<uint8_t> used;
};

// What a filter leaves of a path that no stack takes is nothing.
FlameTree without_empty(const FlameTree& tree) {
  std::vector<uint8_t> kept(tree.size());
  kept[0] = 1;
  for (uint32_t node = static_cast<uint32_t>(tree.size()); node-- > 1;) {
    if (tree.weights.self[node] != 0 || (tree.has_baseline() && tree.baseline.self[node] != 0))
      kept[node] = 1;
    if (kept[node] != 0) kept[tree.parent[node]] = 1;
  }
  return part_of(tree, kept);
}

class TreeMerge {
 public:
  // `parts`: how many services there will be.
  TreeMerge(const TreeOptions& options, bool has_baseline, size_t parts)
      : options_(options),
        names_(std::make_shared<FrameNames>(options.group)),
        builder_(has_baseline),
        is_alone_(parts == 1) {}

  // The node that stacks of that part stand under from here on.
  void go_to(const std::string& root) {
    root_ = 0;
    if (root.empty()) return;
    const auto [at, is_new] = roots_.try_emplace(root, 0);
    if (is_new) at->second = builder_.new_child(0, names_->add_label(root));
    root_ = at->second;
  }

  void add(const ServiceStacks& service, std::span<const int64_t> weights, bool to_baseline) {
    if (options_.by_name()) {
      add_by_name(service.tree, weights, to_baseline);
    } else {
      add_exact(service.tree, weights, to_baseline);
    }
  }

  FlameTree finish() {
    FlameTree tree = builder_.finish(names_);
    return options_.filter.empty() ? std::move(tree) : without_empty(tree);
  }

 private:
  void add_by_name(const StackTree& tree, std::span<const int64_t> weights, bool to_baseline) {
    const NameTotals totals(tree, weights);
    TreeNames names(*names_, tree);
    std::vector<uint32_t> target(tree.name_node_count());
    target[0] = root_;
    if (is_alone_) builder_.reserve(tree.name_node_count());
    if (totals.self[0] != 0) builder_.add_self(root_, totals.self[0], to_baseline);
    for (const NameNode id : Ids<NameNode>(1, tree.name_node_count())) {
      const size_t node = id.index();
      if (totals.used[node] == 0) continue;
      const uint32_t parent = target[tree.name_parent(id).index()];
      const uint32_t name = names.of(tree.name_frame(id));
      // Paths of one tree are all different, so nothing need be looked up.
      target[node] = is_alone_ ? builder_.new_child(parent, name) : builder_.child(parent, name);
      if (totals.self[node] != 0) builder_.add_self(target[node], totals.self[node], to_baseline);
    }
  }

  void add_exact(const StackTree& tree, std::span<const int64_t> weights, bool to_baseline) {
    TreeNames names(*names_, tree);
    place_stacks(
        tree, weights, options_.filter,
        [&](uint32_t parent, TreeFrame frame, bool inlined) {
          if (inlined && !options_.inlines) return parent;
          return builder_.child(parent == 0 ? root_ : parent, names.of(frame), inlined);
        },
        [&](StackNumber stack, uint32_t node) {
          builder_.add_self(node == 0 ? root_ : node, weights[stack.index()], to_baseline);
        });
  }

  const TreeOptions& options_;
  std::shared_ptr<FrameNames> names_;
  FlameTreeBuilder builder_;
  bool is_alone_;
  uint32_t root_ = 0;
  std::unordered_map<std::string, uint32_t, TableKeyHash> roots_;
};

size_t service_count(std::span<const TreePart> parts) {
  size_t count = 0;
  for (const TreePart& part : parts) count += part.selection->services.size();
  return count;
}

void add_parts(TreeMerge& merge, std::span<const TreePart> parts, bool to_baseline) {
  for (const TreePart& part : parts) {
    merge.go_to(part.root);
    for (const ServiceStacks& service : part.selection->services)
      merge.add(service, service.weights, to_baseline);
  }
}

int64_t left_of(const FlameWeights& weights) {
  int64_t left = 0;
  for (const int64_t self : weights.self) left = saturating_add(left, saturating_abs(self));
  return left;
}

int64_t total_of(std::span<const TreePart> parts) {
  int64_t total = 0;
  for (const TreePart& part : parts) total = saturating_add(total, part.selection->total);
  return total;
}

}  // namespace

FlameTree build_flame_tree(const Selection& selection, const TreeOptions& options) {
  return build_flame_tree(std::array{TreePart{&selection, {}}}, options);
}

FlameTree build_flame_tree(std::span<const TreePart> parts, const TreeOptions& options) {
  TreeMerge merge(options, false, service_count(parts));
  add_parts(merge, parts, false);
  FlameTree tree = merge.finish();
  tree.whole = options.relative ? left_of(tree.weights) : total_of(parts);
  return tree;
}

FlameTree build_flame_tree(const Selection& before, const Selection& after, CompareScale scale,
                           const TreeOptions& options, double baseline_factor) {
  return build_flame_tree(std::array{TreePart{&before, {}}}, std::array{TreePart{&after, {}}},
                          scale, options, baseline_factor);
}

FlameTree build_flame_tree(std::span<const TreePart> before, std::span<const TreePart> after,
                           CompareScale scale, const TreeOptions& options, double baseline_factor) {
  TreeMerge merge(options, true, service_count(before) + service_count(after));
  // Returns the total of what was added.
  const auto add = [&](std::span<const TreePart> parts, double factor, bool to_baseline) {
    if (factor == 1) {
      add_parts(merge, parts, to_baseline);
      return total_of(parts);
    }
    CarriedScaling scaled(factor);
    int64_t total = 0;
    int64_t left_out = total_of(parts);  // by filters of labels; shares are of it as well
    std::vector<int64_t> weights;
    for (const TreePart& part : parts) {
      merge.go_to(part.root);
      for (const ServiceStacks& service : part.selection->services) {
        weights = service.weights;
        for (int64_t& weight : weights) {
          left_out = saturating_subtract(left_out, weight);
          weight = scaled(weight);
          total = saturating_add(total, weight);
        }
        merge.add(service, weights, to_baseline);
      }
    }
    return saturating_add(total, scaled(left_out));
  };
  const int64_t total_before = add(before, baseline_factor, true);
  const int64_t total_after = total_of(after);
  const bool normalizes = scale == CompareScale::kNormalized && total_after != 0;
  add(after, normalizes ? static_cast<double>(total_before) / static_cast<double>(total_after) : 1,
      false);
  FlameTree tree = merge.finish();
  tree.whole = normalizes ? total_before : total_after;
  tree.baseline_whole = total_before;
  if (options.relative) {
    tree.whole = left_of(tree.weights);
    tree.baseline_whole = left_of(tree.baseline);
  }
  return tree;
}

}  // namespace vesta
