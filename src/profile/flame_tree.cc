#include "profile/flame_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/table_hash.h"
#include "profile/stack_totals.h"

namespace vesta {
namespace {

// Splits the stacks by their first frame, each part by its second, and so on: every part is a node.
// No part is looked up, and children are made next to each other in the order they are to have.
class ListSplitter {
 public:
  ListSplitter(const FrameProfile& profile, TreeDirection direction)
      : profile_(profile),
        totals_(profile),
        direction_(direction),
        names_(std::make_shared<FrameNames>(profile)),
        builder_(profile.has_baseline) {}

  FlameTree run() {
    for (size_t at = 0; at < profile_.stacks.size(); ++at) {
      if (value(at) != 0 || baseline(at) != 0) items_.push_back({0, static_cast<uint32_t>(at)});
    }
    parts_.push_back({0, static_cast<uint32_t>(items_.size()), 0, 0});
    while (!parts_.empty()) {
      const Part part = parts_.back();
      parts_.pop_back();
      split(part);
    }
    FlameTree tree = builder_.finish(names_);
    tree.whole = profile_.total;
    tree.baseline_whole = profile_.baseline_total;
    return tree;
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
    uint32_t depth;
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
    uint32_t end = part.begin;
    for (uint32_t i = part.begin; i < part.end; ++i) {
      const uint32_t at = items_[i].stack;
      const auto stack = profile_.stacks[FrameStackId(at)];
      if (stack.size() == part.depth) {
        builder_.add_self(part.node, value(at), false);
        if (profile_.has_baseline) builder_.add_self(part.node, baseline(at), true);
      } else {
        const size_t place =
            direction_ == TreeDirection::kTopDown ? stack.size() - 1 - part.depth : part.depth;
        items_[end++] = {stack[place].bits, at};
      }
    }
    find_children(part.begin, end);
    for (const Child& child : children_) {
      const uint32_t node =
          builder_.new_child(part.node, child.frame.frame().value, child.frame.inlined());
      parts_.push_back({child.begin, child.end, node, part.depth + 1});
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
    std::ranges::sort(children_, [this](const Child& a, const Child& b) {
      const int64_t left = std::max(a.total, a.baseline);
      const int64_t right = std::max(b.total, b.baseline);
      if (left != right) return left > right;
      const uint32_t name = a.frame.frame().value;
      const uint32_t other = b.frame.frame().value;
      const int order = names_->compare(name, other);
      return order != 0 ? order < 0 : name < other;
    });
  }

  const FrameProfile& profile_;
  const StackTotals totals_;
  const TreeDirection direction_;
  const std::shared_ptr<const FrameNames> names_;
  FlameTreeBuilder builder_;
  std::vector<Item> items_;
  std::vector<Part> parts_;      // still to be split
  std::vector<Child> children_;  // scratch
};

}  // namespace

void add_up(std::span<const uint32_t> parent, FlameWeights& weights) {
  weights.total = weights.self;
  for (size_t node = weights.self.size(); node-- > 1;) {
    int64_t& above = weights.total[parent[node]];
    above = saturating_add(above, weights.total[node]);
  }
}

std::string FlameTree::text(uint32_t node) const {
  return name[node] == 0 ? "total" : names->text(name[node]);
}

FlameTree build_flame_tree(const FrameProfile& profile, TreeDirection direction) {
  return ListSplitter(profile, direction).run();
}

FlameTree part_of(const FlameTree& tree, std::span<const uint8_t> kept) {
  FlameTree out;
  out.names = tree.names;
  out.whole = tree.whole;
  out.baseline_whole = tree.baseline_whole;
  std::vector<uint32_t> place(tree.size());
  for (uint32_t node = 0; node < tree.size(); ++node) {
    if (kept[node] == 0) continue;
    place[node] = static_cast<uint32_t>(out.size());
    out.parent.push_back(out.parent.empty() ? 0 : place[tree.parent[node]]);
    out.name.push_back(tree.name[node]);
    out.inlined.push_back(tree.inlined[node]);
    out.weights.self.push_back(tree.weights.self[node]);
    out.weights.total.push_back(tree.weights.total[node]);
    if (!tree.has_baseline()) continue;
    out.baseline.self.push_back(tree.baseline.self[node]);
    out.baseline.total.push_back(tree.baseline.total[node]);
  }
  return out;
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
                 "the path must list the names of frames, starting at the root"};
  };
  for (const std::string& step : path) {
    uint32_t next = 0;
    for (uint32_t node = top + 1; node < tree.size() && next == 0; ++node) {
      if (tree.parent[node] == top && tree.text(node) == step) next = node;
    }
    if (next == 0) return not_found(step);
    top = next;
  }
  std::vector<uint8_t> kept(tree.size());
  kept[top] = 1;
  for (uint32_t node = top + 1; node < tree.size(); ++node) kept[node] = kept[tree.parent[node]];
  return part_of(tree, kept);
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

uint32_t FlameTreeBuilder::child(uint32_t parent, uint32_t name, bool inlined) {
  const uint32_t child = index_.find_or_insert(
      TableHash().add(uint64_t{parent} << 32 | name).value(),
      [&](uint32_t at) { return tree_.parent[at] == parent && tree_.name[at] == name; },
      [&] { return new_child(parent, name, inlined); });
  if (!inlined) tree_.inlined[child] = 0;
  return child;
}

uint32_t FlameTreeBuilder::new_child(uint32_t parent, uint32_t name, bool inlined) {
  tree_.parent.push_back(parent);
  tree_.name.push_back(name);
  tree_.inlined.push_back(inlined ? 1 : 0);
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
