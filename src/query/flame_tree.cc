#include "query/flame_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/table_hash.h"
#include "profile/carried_rounding.h"

namespace vesta {
namespace {

void add_up(std::span<const uint32_t> parent, FlameWeights& weights) {
  weights.total = weights.self;
  for (size_t node = parent.size(); node-- > 1;) {
    int64_t& above = weights.total[parent[node]];
    above = saturating_add(above, weights.total[node]);
  }
}

// The weights of one service under each node of its tree by name.
struct NameTotals {
  NameTotals(const StackTree& tree, std::span<const int64_t> weights)
      : self(tree.name_node_count()), used(tree.name_node_count()) {
    const size_t stacks = std::min(weights.size(), tree.stack_count());
    for (StackNumber stack = 0; stack < stacks; ++stack) {
      if (weights[stack] == 0) continue;
      const TreeNode leaf = tree.leaf(stack);
      const NameNode node = leaf == 0 ? 0 : tree.name_node(leaf);
      self[node] = saturating_add(self[node], weights[stack]);
      used[node] = 1;
    }
    for (size_t node = used.size(); node-- > 1;) {
      if (used[node] != 0) used[tree.name_parent(static_cast<NameNode>(node))] = 1;
    }
  }
  std::vector<int64_t> self;
  std::vector<uint8_t> used;
};

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
    if (options_.group == GroupBy::kFunction && options_.filter.empty()) {
      add_by_name(service.tree, weights, to_baseline);
    } else {
      add_exact(service.tree, weights, to_baseline);
    }
  }

  FlameTree finish() { return builder_.finish(names_); }

 private:
  void add_by_name(const StackTree& tree, std::span<const int64_t> weights, bool to_baseline) {
    const NameTotals totals(tree, weights);
    auto names = names_->of_tree(tree);
    std::vector<uint32_t> target(tree.name_node_count());
    target[0] = root_;
    if (is_alone_) builder_.reserve(tree.name_node_count());
    if (totals.self[0] != 0) builder_.add_self(root_, totals.self[0], to_baseline);
    for (NameNode node = 1; node < tree.name_node_count(); ++node) {
      if (totals.used[node] == 0) continue;
      const uint32_t parent = target[tree.name_parent(node)];
      const uint32_t name = names.of(tree.name_frame(node));
      // Paths of one tree are all different, so nothing need be looked up.
      target[node] = is_alone_ ? builder_.new_child(parent, name) : builder_.child(parent, name);
      if (totals.self[node] != 0) builder_.add_self(target[node], totals.self[node], to_baseline);
    }
  }

  void add_exact(const StackTree& tree, std::span<const int64_t> weights, bool to_baseline) {
    auto names = names_->of_tree(tree);
    place_stacks(
        tree, weights, options_.filter,
        [&](uint32_t parent, TreeFrame frame, bool) {
          return builder_.child(parent == 0 ? root_ : parent, names.of(frame));
        },
        [&](StackNumber stack, uint32_t node) {
          builder_.add_self(node == 0 ? root_ : node, weights[stack], to_baseline);
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

int64_t total_of(std::span<const TreePart> parts) {
  int64_t total = 0;
  for (const TreePart& part : parts) total = saturating_add(total, part.selection->total);
  return total;
}

}  // namespace

std::string FlameTree::text(uint32_t node) const {
  return name[node] == 0 ? "total" : names->text(name[node]);
}

FlameTree build_flame_tree(const Selection& selection, const TreeOptions& options) {
  return build_flame_tree(std::array{TreePart{&selection, {}}}, options);
}

FlameTree build_flame_tree(std::span<const TreePart> parts, const TreeOptions& options) {
  TreeMerge merge(options, false, service_count(parts));
  add_parts(merge, parts, false);
  FlameTree tree = merge.finish();
  tree.whole = total_of(parts);
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
    std::vector<int64_t> weights;
    for (const TreePart& part : parts) {
      merge.go_to(part.root);
      for (const ServiceStacks& service : part.selection->services) {
        weights = service.weights;
        for (int64_t& weight : weights) {
          weight = scaled(weight);
          total = saturating_add(total, weight);
        }
        merge.add(service, weights, to_baseline);
      }
    }
    return total;
  };
  const int64_t total_before = add(before, baseline_factor, true);
  const int64_t total_after = total_of(after);
  const bool normalizes = scale == CompareScale::kNormalized && total_after != 0;
  add(after, normalizes ? static_cast<double>(total_before) / static_cast<double>(total_after) : 1,
      false);
  FlameTree tree = merge.finish();
  tree.whole = normalizes ? total_before : total_after;
  tree.baseline_whole = total_before;
  return tree;
}

FlameTree inverted(const FlameTree& tree, bool keeps_first_level) {
  FlameTreeBuilder builder(tree.has_baseline());
  // By node: the child of the root that it stands under, in the new tree.
  std::vector<uint32_t> top(keeps_first_level ? tree.size() : 0);
  for (uint32_t node = 1; node < top.size(); ++node) {
    const uint32_t parent = tree.parent[node];
    top[node] = parent == 0 ? builder.child(0, tree.name[node]) : top[parent];
  }
  const auto add = [&](const FlameWeights& weights, bool to_baseline) {
    for (uint32_t node = 0; node < weights.self.size(); ++node) {
      if (weights.self[node] == 0) continue;
      uint32_t to = keeps_first_level ? top[node] : 0;
      for (uint32_t at = node; at != 0; at = tree.parent[at]) {
        if (keeps_first_level && tree.parent[at] == 0) break;
        to = builder.child(to, tree.name[at]);
      }
      builder.add_self(to, weights.self[node], to_baseline);
    }
  };
  add(tree.weights, false);
  if (tree.has_baseline()) add(tree.baseline, true);
  FlameTree out = builder.finish(tree.names);
  out.whole = tree.whole;
  out.baseline_whole = tree.baseline_whole;
  return out;
}

Result<FlameTree> subtree(const FlameTree& tree, std::span<const std::string> path) {
  uint32_t top = 0;
  const auto not_found = [&](const std::string& step) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("no frame '{}' under '{}'", step, tree.text(top)),
                 "the path holds the names of frames, from the root"};
  };
  for (const std::string& step : path) {
    uint32_t next = 0;
    for (uint32_t node = top + 1; node < tree.size() && next == 0; ++node) {
      if (tree.parent[node] == top && tree.text(node) == step) next = node;
    }
    if (next == 0) return not_found(step);
    top = next;
  }
  FlameTree out;
  out.names = tree.names;
  out.whole = tree.whole;
  out.baseline_whole = tree.baseline_whole;
  constexpr uint32_t kOutside = UINT32_MAX;
  std::vector<uint32_t> place(tree.size(), kOutside);
  const auto take = [&](uint32_t node, uint32_t parent) {
    place[node] = static_cast<uint32_t>(out.size());
    out.parent.push_back(parent);
    out.name.push_back(tree.name[node]);
    out.weights.self.push_back(tree.weights.self[node]);
    out.weights.total.push_back(tree.weights.total[node]);
    if (!tree.has_baseline()) return;
    out.baseline.self.push_back(tree.baseline.self[node]);
    out.baseline.total.push_back(tree.baseline.total[node]);
  };
  take(top, 0);
  for (uint32_t node = top + 1; node < tree.size(); ++node) {
    if (const uint32_t parent = place[tree.parent[node]]; parent != kOutside) take(node, parent);
  }
  return out;
}

Children::Children(std::span<const uint32_t> parent)
    : first(parent.size() + 1), items(parent.empty() ? 0 : parent.size() - 1) {
  for (size_t node = 1; node < parent.size(); ++node) ++first[parent[node] + 1];
  for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  std::vector<uint32_t> at(first.begin(), first.end());
  for (uint32_t node = 1; node < parent.size(); ++node) items[at[parent[node]]++] = node;
}

FlameTreeBuilder::FlameTreeBuilder(bool has_baseline) : has_baseline_(has_baseline) {
  new_child(0, 0);
}

uint32_t FlameTreeBuilder::child(uint32_t parent, uint32_t name) {
  return index_.find_or_insert(
      TableHash().add(uint64_t{parent} << 32 | name).value(),
      [&](uint32_t at) { return tree_.parent[at] == parent && tree_.name[at] == name; },
      [&] { return new_child(parent, name); });
}

uint32_t FlameTreeBuilder::new_child(uint32_t parent, uint32_t name) {
  tree_.parent.push_back(parent);
  tree_.name.push_back(name);
  tree_.weights.self.push_back(0);
  if (has_baseline_) tree_.baseline.self.push_back(0);
  return static_cast<uint32_t>(tree_.parent.size() - 1);
}

void FlameTreeBuilder::add_self(uint32_t node, int64_t weight, bool to_baseline) {
  int64_t& self = (to_baseline ? tree_.baseline : tree_.weights).self[node];
  self = saturating_add(self, weight);
}

void FlameTreeBuilder::reserve(size_t nodes) {
  tree_.parent.reserve(nodes);
  tree_.name.reserve(nodes);
  tree_.weights.self.reserve(nodes);
}

FlameTree FlameTreeBuilder::finish(std::shared_ptr<const FrameNames> names) {
  tree_.names = std::move(names);
  add_up(tree_.parent, tree_.weights);
  if (has_baseline_) add_up(tree_.parent, tree_.baseline);
  tree_.whole = tree_.weights.total[0];
  if (has_baseline_) tree_.baseline_whole = tree_.baseline.total[0];
  return std::move(tree_);
}

}  // namespace vesta
