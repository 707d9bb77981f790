// The part of a tree that fits a budget of nodes, with exact account of the rest: nothing that was
// cut looks like a function. Pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/flame_tree.h"

namespace vesta {

struct PrunedTree {
  // The nodes that are left, as places in the tree that was pruned; parents before their children,
  // the root first. Children of a node are in the order of their names.
  std::vector<uint32_t> nodes;
  std::vector<uint32_t> parent;  // places in `nodes`; the root's is itself
  // What was cut below each: nodes of any depth, and the weight of them. For every node that is
  // left, total = self + totals of its children + cut_weight.
  std::vector<uint32_t> cut_nodes;
  std::vector<int64_t> cut_weight;
  std::vector<int64_t> cut_baseline;  // empty without a baseline

  uint64_t total_cut_nodes = 0;
  int64_t total_cut_weight = 0;  // also the self weight of all nodes that were cut
  int64_t total_cut_baseline = 0;
};

// By node, whether it is left of so many. Half of the budget goes to the nodes with the largest totals, the other to those with the largest
// self weight and what leads to them, which a cut by total alone would hide behind long chains of
// callers. With a baseline, the larger of both sides counts. 0 keeps all.
std::vector<uint8_t> nodes_within(const FlameTree& tree, size_t max_nodes);

// What is left when these nodes are. REQUIRES: a node is kept only if its parent is
PrunedTree prune(const FlameTree& tree, const std::vector<uint8_t>& kept);
PrunedTree prune(const FlameTree& tree, size_t max_nodes);

}  // namespace vesta
