// The tree of a flame graph as Pyroscope draws it: what does not fit the budget is a bar named
// `other` under the node it was cut from. Pure functions; trees own all they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "profile/flame_tree.h"

namespace vesta {

struct FlameBar {
  uint32_t name = 0;  // of FlameBars::names
  uint32_t first_child = 0;
  uint32_t child_count = 0;
  int64_t self = 0;
  int64_t total = 0;
};

// Level after level from the root, so that the children of a node stand together, in the order of
// their names.
struct FlameBars {
  std::vector<std::string> names;  // valid UTF-8; the first one is "total", the root's
  std::vector<FlameBar> bars;
  // The other side of a comparison, bar by bar; empty without one. Only self and total are filled.
  std::vector<FlameBar> left;

  bool is_comparison() const { return !left.empty(); }
};

// The `max_nodes` nodes with the largest totals (the larger side counts in a comparison), of equal
// ones those nearer to the root; the rest is summed up in `other`, with a function of that name if
// there is one. 0 keeps all. Weights below 0, for which there is no bar, count as 0. The baseline
// of the tree is the left side.
FlameBars to_flame_bars(const FlameTree& tree, size_t max_nodes);

}  // namespace vesta
