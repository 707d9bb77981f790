#include "profile/prune.h"

#include <algorithm>
#include <array>
#include <bit>

namespace vesta {
namespace {

class NodeChoice {
 public:
  NodeChoice(const FlameTree& tree, size_t max_nodes)
      : tree_(tree), kept_(tree.size()), room_(max_nodes) {}

  std::vector<uint8_t> run() {
    if (room_ == 0 || room_ >= tree_.size()) {
      std::ranges::fill(kept_, 1);
      return std::move(kept_);
    }
    keep(0);
    keep_largest(&FlameWeights::total, room_ / 2);
    keep_largest(&FlameWeights::self, room_);
    // Where few nodes have weight of their own, room is left.
    keep_largest(&FlameWeights::total, room_);
    return std::move(kept_);
  }

 private:
  using Column = std::vector<int64_t> FlameWeights::*;
  struct Candidate {
    int64_t weight;
    uint32_t node;
  };

  // The place of the highest bit and the four after it; 0 for nothing.
  static constexpr size_t kSizes = 64 * 16 + 1;
  static size_t size_of(int64_t weight) {
    if (weight == 0) return 0;
    const auto bits = static_cast<uint64_t>(weight);
    const auto width = static_cast<size_t>(std::bit_width(bits));
    const uint64_t rest = width > 5 ? bits >> (width - 5) : bits << (5 - width);
    return 1 + (width - 1) * 16 + (rest & 15);
  }

  void keep(uint32_t node) {
    kept_[node] = 1;
    --room_;
  }

  // Keeps up to `count` of the nodes that are not kept yet, and what leads to them.
  void keep_largest(Column column, size_t count) {
    if (count == 0) return;
    const std::vector<int64_t>& values = tree_.weights.*column;
    const std::vector<int64_t>& baseline = tree_.baseline.*column;
    const auto weight_of = [&](uint32_t node) {
      const int64_t weight = saturating_abs(values[node]);
      return baseline.empty() ? weight : std::max(weight, saturating_abs(baseline[node]));
    };
    // A rough count by size first: most nodes are far too small, and need not be sorted.
    std::array<uint32_t, kSizes> sizes{};
    for (uint32_t node = 1; node < kept_.size(); ++node) {
      if (kept_[node] == 0) ++sizes[size_of(weight_of(node))];
    }
    size_t least_size = kSizes;
    for (size_t more = 0; least_size > 1 && more < count;) more += sizes[--least_size];
    candidates_.clear();
    for (uint32_t node = 1; node < kept_.size(); ++node) {
      if (kept_[node] != 0) continue;
      const int64_t weight = weight_of(node);
      if (size_of(weight) >= least_size) candidates_.push_back({weight, node});
    }
    // Ties by position: a parent stands before its child, so it comes first.
    const auto heavier = [](const Candidate& a, const Candidate& b) {
      return a.weight != b.weight ? a.weight > b.weight : a.node < b.node;
    };
    if (candidates_.size() > count) {
      std::nth_element(candidates_.begin(), candidates_.begin() + static_cast<ptrdiff_t>(count),
                       candidates_.end(), heavier);
      candidates_.resize(count);
    }
    std::ranges::sort(candidates_, heavier);
    const size_t least_room = room_ - count;
    for (const Candidate& candidate : candidates_) {
      if (room_ == least_room) return;
      keep_with_ancestors(candidate.node, room_ - least_room);
    }
  }

  // All of the path or nothing.
  void keep_with_ancestors(uint32_t node, size_t room) {
    size_t missing = 0;
    for (uint32_t at = node; kept_[at] == 0; at = tree_.parent[at]) {
      if (++missing > room) return;
    }
    for (uint32_t at = node; kept_[at] == 0; at = tree_.parent[at]) keep(at);
  }

  const FlameTree& tree_;
  std::vector<uint8_t> kept_;
  size_t room_;
  std::vector<Candidate> candidates_;
};

}  // namespace

std::vector<uint8_t> nodes_within(const FlameTree& tree, size_t max_nodes) {
  return NodeChoice(tree, max_nodes).run();
}

PrunedTree prune(const FlameTree& tree, size_t max_nodes) {
  return prune(tree, nodes_within(tree, max_nodes));
}

PrunedTree prune(const FlameTree& tree, const std::vector<uint8_t>& kept) {
  PrunedTree out;
  // Children next to each other, by name, so that two graphs of one program look alike.
  std::vector<uint32_t> left;
  std::vector<uint32_t> place(tree.size());
  for (uint32_t node = 0; node < tree.size(); ++node) {
    if (kept[node] != 0) left.push_back(node);
  }
  std::vector<uint32_t> parents(left.size());
  for (uint32_t i = 0; i < left.size(); ++i) {
    place[left[i]] = i;
    parents[i] = place[tree.parent[left[i]]];
  }
  Children children(parents);
  std::vector<std::pair<uint32_t, uint32_t>> pending{{0, 0}};  // place in `left`, parent in `out`
  out.nodes.reserve(left.size());
  out.parent.reserve(left.size());
  while (!pending.empty()) {
    const auto [at, parent] = pending.back();
    pending.pop_back();
    const auto here = static_cast<uint32_t>(out.nodes.size());
    place[left[at]] = here;
    out.nodes.push_back(left[at]);
    out.parent.push_back(parent);
    const std::span<uint32_t> below =
        std::span(children.items)
            .subspan(children.first[at], children.first[at + 1] - children.first[at]);
    std::ranges::sort(below, [&](uint32_t a, uint32_t b) {
      return tree.names->is_before(tree.name[left[b]], tree.name[left[a]]);
    });
    for (const uint32_t child : below) pending.emplace_back(child, here);
  }

  out.cut_nodes.resize(out.nodes.size());
  out.cut_weight.resize(out.nodes.size());
  if (tree.has_baseline()) out.cut_baseline.resize(out.nodes.size());
  if (left.size() == tree.size()) return out;
  std::vector<uint32_t> below(tree.size());  // nodes cut below one that is cut
  for (uint32_t node = static_cast<uint32_t>(tree.size()); node-- > 1;) {
    if (kept[node] != 0) continue;
    const uint32_t parent = tree.parent[node];
    ++out.total_cut_nodes;
    if (kept[parent] == 0) {
      below[parent] += below[node] + 1;
      continue;
    }
    const uint32_t at = place[parent];
    const auto add = [](int64_t& sum, int64_t weight) { sum = saturating_add(sum, weight); };
    out.cut_nodes[at] += below[node] + 1;
    add(out.cut_weight[at], tree.weights.total[node]);
    add(out.total_cut_weight, tree.weights.total[node]);
    if (!tree.has_baseline()) continue;
    add(out.cut_baseline[at], tree.baseline.total[node]);
    add(out.total_cut_baseline, tree.baseline.total[node]);
  }
  return out;
}

}  // namespace vesta
