#include "profile/call_tree.h"

#include <algorithm>
#include <numeric>

#include "profile/stack_totals.h"

namespace vesta {
namespace {

// Splits the stacks by their first frame, each part by its second, and so on: every part is a node.
// No part is looked up, and children are made next to each other in the order they are to have.
class TreeBuilder {
 public:
  TreeBuilder(const FrameProfile& profile, TreeDirection direction, ChildOrder order)
      : profile_(profile),
        totals_(profile),
        direction_(direction),
        order_(order),
        name_rank_(name_ranks(profile)) {}

  CallTree run() {
    for (size_t at = 0; at < profile_.stacks.size(); ++at) {
      if (value(at) != 0 || baseline(at) != 0) items_.push_back({0, static_cast<uint32_t>(at)});
    }
    CallTree::Node& root = tree_.nodes.emplace_back();
    for (const Item& item : items_) {
      root.total = saturating_add(root.total, value(item.stack));
      root.baseline_total = saturating_add(root.baseline_total, baseline(item.stack));
    }
    parts_.push_back({0, static_cast<uint32_t>(items_.size()), 0});
    while (!parts_.empty()) {
      const Part part = parts_.back();
      parts_.pop_back();
      split(part);
    }
    return std::move(tree_);
  }

 private:
  // A stack in the part that is being split, with its frame at that depth.
  struct Item {
    uint32_t frame_bits;
    uint32_t stack;
  };
  // The stacks of one node, as a range of items_.
  struct Part {
    uint32_t begin;
    uint32_t end;
    uint32_t node;
  };
  struct Child {
    uint32_t begin;
    uint32_t end;
    FrameRef frame;
    int64_t total;
    int64_t baseline;
  };

  int64_t value(size_t stack) const { return totals_.value[stack]; }
  int64_t baseline(size_t stack) const {
    return totals_.baseline.empty() ? 0 : totals_.baseline[stack];
  }

  void split(const Part& part) {
    const uint32_t depth = tree_.nodes[part.node].depth;
    uint32_t end = part.begin;
    for (uint32_t i = part.begin; i < part.end; ++i) {
      const uint32_t at = items_[i].stack;
      const auto stack = profile_.stacks[FrameStackId(at)];
      if (stack.size() == depth) {
        CallTree::Node& node = tree_.nodes[part.node];
        node.self = saturating_add(node.self, value(at));
        node.baseline_self = saturating_add(node.baseline_self, baseline(at));
      } else {
        const size_t place =
            direction_ == TreeDirection::kTopDown ? stack.size() - 1 - depth : depth;
        items_[end++] = {stack[place].bits, at};
      }
    }
    if (end == part.begin) return;
    find_children(part.begin, end);
    tree_.max_depth = std::max(tree_.max_depth, depth + 1);
    const auto first = static_cast<uint32_t>(tree_.nodes.size());
    tree_.nodes[part.node].first_child = first;
    for (size_t i = 0; i < children_.size(); ++i) {
      const Child& child = children_[i];
      const auto id = static_cast<uint32_t>(first + i);
      CallTree::Node& node = tree_.nodes.emplace_back();
      node.frame = child.frame;
      node.parent = part.node;
      node.next_sibling = i + 1 < children_.size() ? id + 1 : CallTree::kNone;
      node.depth = depth + 1;
      node.total = child.total;
      node.baseline_total = child.baseline;
      parts_.push_back({child.begin, child.end, id});
    }
  }

  // Puts the items of each frame together and the children that they make in order.
  void find_children(uint32_t begin, uint32_t end) {
    const auto range = std::span(items_).subspan(begin, end - begin);
    // Inlined or not, it is the same function under the same caller. The low bit is set for inlined
    // ones, so the first of them is inlined only if all are.
    if (!std::ranges::is_sorted(range, {}, &Item::frame_bits))
      std::ranges::sort(range, {}, [](const Item& i) { return std::pair(i.frame_bits, i.stack); });
    children_.clear();
    for (uint32_t i = begin; i < end; ++i) {
      FrameRef frame;
      frame.bits = items_[i].frame_bits;
      if (children_.empty() || children_.back().frame.frame() != frame.frame())
        children_.push_back({i, i, frame, 0, 0});
      Child& child = children_.back();
      child.end = i + 1;
      child.total = saturating_add(child.total, value(items_[i].stack));
      child.baseline = saturating_add(child.baseline, baseline(items_[i].stack));
    }
    if (children_.size() > 1) {
      std::ranges::sort(children_, [this](const Child& a, const Child& b) {
        const int64_t left = std::max(a.total, a.baseline);
        const int64_t right = std::max(b.total, b.baseline);
        if (order_ == ChildOrder::kByTotal && left != right) return left > right;
        return name_rank_[a.frame.frame().index()] < name_rank_[b.frame.frame().index()];
      });
    }
  }

  // Rank of each frame by name, so that sorting children compares integers.
  static std::vector<uint32_t> name_ranks(const FrameProfile& profile) {
    std::vector<std::string> names(profile.frames.size());
    for (size_t i = 1; i < names.size(); ++i) names[i] = display_name(profile, FrameId(i));
    std::vector<uint32_t> order(names.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](uint32_t i) -> const std::string& { return names[i]; });
    std::vector<uint32_t> rank(names.size());
    for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    return rank;
  }

  const FrameProfile& profile_;
  const StackTotals totals_;
  const TreeDirection direction_;
  const ChildOrder order_;
  const std::vector<uint32_t> name_rank_;
  CallTree tree_;
  std::vector<Item> items_;
  std::vector<Part> parts_;      // still to be split
  std::vector<Child> children_;  // scratch
};

}  // namespace

CallTree build_call_tree(const FrameProfile& profile, TreeDirection direction, ChildOrder order) {
  return TreeBuilder(profile, direction, order).run();
}

}  // namespace vesta
