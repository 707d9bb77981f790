// Where the boxes of a flame graph stand along the x axis, in weight units. Plain data; refers to
// nodes of the tree that it was made from.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/flame_tree.h"

namespace vesta {

struct FlameBox {
  uint32_t node = 0;
  uint32_t parent = 0;  // index of the parent's box; the root's is itself
  uint32_t depth = 0;
  double start = 0;
  double extent = 0;
};

// The extent of a box is the largest of its value, its baseline and the sum of its children's
// extents, so that vanished frames keep a place and children never leave their parent. Without a
// baseline this is the value itself. Magnitudes count: a negative value has a width too.
// In pre-order, the root first, children by name.
std::vector<FlameBox> lay_out_boxes(const FlameTree& tree);

}  // namespace vesta
