#include "formats/flamegraph/flame_layout.h"

#include <algorithm>
#include <cmath>

#include "profile/prune.h"

namespace vesta {
namespace {

std::vector<double> compute_extents(const FlameTree& tree) {
  std::vector<double> extents(tree.size(), 0);  // first holds the sum of the children
  for (uint32_t node = static_cast<uint32_t>(tree.size()); node-- > 0;) {
    extents[node] =
        std::max({extents[node], std::fabs(static_cast<double>(tree.weights.total[node])),
                  std::fabs(static_cast<double>(tree.baseline_total(node)))});
    if (node != 0) extents[tree.parent[node]] += extents[node];
  }
  return extents;
}

}  // namespace

std::vector<FlameBox> lay_out_boxes(const FlameTree& tree) {
  const std::vector<double> extents = compute_extents(tree);
  const PrunedTree all = prune(tree, 0);
  std::vector<FlameBox> boxes(all.nodes.size());
  std::vector<double> taken(boxes.size());  // where the next child of a box starts
  for (uint32_t i = 0; i < boxes.size(); ++i) {
    const uint32_t parent = all.parent[i];
    boxes[i] = {all.nodes[i], parent, i == 0 ? 0 : boxes[parent].depth + 1, taken[parent],
                extents[all.nodes[i]]};
    taken[i] = boxes[i].start;
    if (i != 0) taken[parent] += boxes[i].extent;
  }
  return boxes;
}

}  // namespace vesta
