#include "formats/flamegraph/flame_layout.h"

#include <algorithm>
#include <cmath>

namespace vesta {
namespace {

std::vector<double> compute_extents(const CallTree& tree) {
  std::vector<double> extents(tree.nodes.size(), 0);  // first holds the sum of the children
  for (size_t i = tree.nodes.size(); i-- > 0;) {
    const CallTree::Node& node = tree.nodes[i];
    extents[i] = std::max({extents[i], std::fabs(static_cast<double>(node.total)),
                           std::fabs(static_cast<double>(node.baseline_total))});
    if (node.parent != CallTree::kNone) extents[node.parent] += extents[i];
  }
  return extents;
}

}  // namespace

std::vector<FlameBox> lay_out_boxes(const CallTree& tree) {
  std::vector<FlameBox> boxes;
  if (tree.nodes.empty()) return boxes;
  const std::vector<double> extents = compute_extents(tree);
  boxes.reserve(tree.nodes.size());
  boxes.push_back({0, 0, 0, 0, extents[0]});
  uint32_t parent_box = 0;
  uint32_t node = tree.nodes[0].first_child;
  double start = 0;
  while (node != CallTree::kNone) {
    const auto box = static_cast<uint32_t>(boxes.size());
    boxes.push_back({node, parent_box, boxes[parent_box].depth + 1, start, extents[node]});
    if (tree.nodes[node].first_child != CallTree::kNone) {
      parent_box = box;
      node = tree.nodes[node].first_child;
      continue;
    }
    start += extents[node];
    uint32_t done = node;
    node = tree.nodes[done].next_sibling;
    while (node == CallTree::kNone && parent_box != 0) {
      done = boxes[parent_box].node;
      start = boxes[parent_box].start + boxes[parent_box].extent;
      parent_box = boxes[parent_box].parent;
      node = tree.nodes[done].next_sibling;
    }
  }
  return boxes;
}

}  // namespace vesta
