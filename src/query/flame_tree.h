// The call tree of a selection, of all its services together, in columns: what flame graphs, call
// trees, sandwiches and comparisons are made of. Owns its columns, shares the strings. Immutable
// once built.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/frame_names.h"
#include "query/stack_filter.h"
#include "store/selection.h"

namespace vesta {

// Weights on one side of a comparison, or all there are. `total` is `self` and those of all nodes
// below.
struct FlameWeights {
  std::vector<int64_t> self;
  std::vector<int64_t> total;
};

struct FlameTree {
  std::shared_ptr<const FrameNames> names;
  std::vector<uint32_t> parent;  // parents stand before their children; the root's is itself
  std::vector<uint32_t> name;    // of `names`
  FlameWeights weights;
  FlameWeights baseline;  // empty columns without one
  // Of all stacks, before filters: shares are of this.
  int64_t whole = 0;
  int64_t baseline_whole = 0;

  size_t size() const { return parent.size(); }
  bool has_baseline() const { return !baseline.self.empty(); }
  // "total" for the root of a whole tree.
  std::string text(uint32_t node) const;
};

struct TreeOptions {
  GroupBy group = GroupBy::kFunction;
  StackFilter filter;
};

FlameTree build_flame_tree(const Selection& selection, const TreeOptions& options);

// A selection whose stacks stand under a node of that name, which is no frame; under the root when
// the name is empty.
struct TreePart {
  const Selection* selection = nullptr;
  std::string root;
};
FlameTree build_flame_tree(std::span<const TreePart> parts, const TreeOptions& options);

enum class CompareScale {
  kAbsolute,
  kNormalized,  // `after` is scaled so that both totals are equal
};
// Both in one tree: nodes of the same path are one; `weights` are those of `after`. Those of
// `before` are multiplied with the factor.
FlameTree build_flame_tree(const Selection& before, const Selection& after, CompareScale scale,
                           const TreeOptions& options, double baseline_factor = 1);
FlameTree build_flame_tree(std::span<const TreePart> before, std::span<const TreePart> after,
                           CompareScale scale, const TreeOptions& options,
                           double baseline_factor = 1);

// From the leaves: the root's children are the functions that ran, their children the callers.
// Weights are at the ends of the paths as well as above them, as in profile/call_tree.h. With
// `keeps_first_level`, that happens below each child of the root.
FlameTree inverted(const FlameTree& tree, bool keeps_first_level = false);

// The part below the node that the names lead to from the root, with that node as its root.
// kNotFound with how far the path goes.
Result<FlameTree> subtree(const FlameTree& tree, std::span<const std::string> path);

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

  uint32_t child(uint32_t parent, uint32_t name);
  // The same for a caller that knows that there is none yet.
  uint32_t new_child(uint32_t parent, uint32_t name);
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
