// The call tree of a profile in columns: what flame graphs, call trees, sandwiches and comparisons
// are made of, of files and of stores. Owns its columns, shares the strings. Immutable once built.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/id_index.h"
#include "base/result.h"
#include "profile/frame_names.h"

namespace vesta {

enum class TreeDirection {
  kTopDown,   // the root is the entry of the program, children are callees
  kBottomUp,  // the root's children are the functions that ran, their children the callers
};

// Weights on one side of a comparison, or all there are. `total` is `self` and those of all nodes
// below.
struct FlameWeights {
  std::vector<int64_t> self;
  std::vector<int64_t> total;
};

// Makes the totals of the self weights; none of no nodes.
void add_up(std::span<const uint32_t> parent, FlameWeights& weights);

struct FlameTree {
  std::shared_ptr<const FrameNames> names;
  std::vector<uint32_t> parent;  // parents stand before their children; the root's is itself
  std::vector<uint32_t> name;    // of `names`
  // Whether every stack had it inlined into its parent. Of a selection, known where frames are
  // looked at one by one, for a filter or a granularity other than by function.
  std::vector<uint8_t> inlined;
  FlameWeights weights;
  FlameWeights baseline;  // empty columns without one
  // Of all stacks, before filters: shares are of this.
  int64_t whole = 0;
  int64_t baseline_whole = 0;

  size_t size() const { return parent.size(); }
  bool has_baseline() const { return !baseline.self.empty(); }
  // 0 without a baseline.
  int64_t baseline_total(uint32_t node) const { return has_baseline() ? baseline.total[node] : 0; }
  // "total" for the root of a whole tree.
  std::string text(uint32_t node) const;
};

// Of stacks as lists. Names have the numbers of the profile's frames; children of a node are in the
// order of their totals, ties by name.
FlameTree build_flame_tree(const FrameProfile& profile, TreeDirection direction);

// From the leaves: the root's children are the functions that ran, their children the callers.
// Weights are at the ends of the paths as well as above them. With `keeps_first_level`, that happens
// below each child of the root.
FlameTree inverted(const FlameTree& tree, bool keeps_first_level = false);

// The part below the node that the names lead to from the root, with that node as its root.
// kNotFound with how far the path goes.
Result<FlameTree> subtree(const FlameTree& tree, std::span<const std::string> path);
// The nodes that are marked, the first of which is the root of all others.
FlameTree part_of(const FlameTree& tree, std::span<const uint8_t> kept);

// The children of each node: those of node n are items[first[n]..first[n + 1]).
struct Children {
  explicit Children(std::span<const uint32_t> parent);
  std::span<const uint32_t> of(uint32_t node) const {
    return std::span(items).subspan(first[node], first[node + 1] - first[node]);
  }
  std::vector<uint32_t> first;
  std::vector<uint32_t> items;
};

// Grows a tree by paths. Not thread-safe.
class FlameTreeBuilder {
 public:
  explicit FlameTreeBuilder(bool has_baseline);

  uint32_t child(uint32_t parent, uint32_t name, bool inlined = false);
  // The same for a caller that knows that there is none yet.
  uint32_t new_child(uint32_t parent, uint32_t name, bool inlined = false);
  void add_self(uint32_t node, int64_t weight, bool to_baseline);
  void reserve(size_t nodes);
  // Sums up the totals.
  FlameTree finish(std::shared_ptr<const FrameNames> names);

 private:
  FlameTree tree_;
  IdIndex index_;
  bool has_baseline_;
};

}  // namespace vesta
