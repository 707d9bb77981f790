// The call tree of a profile: one node per path from the root (or, inverted, from the leaves). The
// base of flame graphs. Owns its nodes; refers to frames of the FrameProfile that it was made from.
// Immutable once built.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/frame_profile.h"

namespace vesta {

enum class TreeDirection {
  kTopDown,   // the root is the entry of the program, children are callees
  kBottomUp,  // the root's children are the functions that ran, their children the callers
};

enum class ChildOrder { kByTotal, kByName };

struct CallTree {
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Node {
    FrameRef frame;  // empty for the root
    uint32_t parent = kNone;
    uint32_t first_child = kNone;
    uint32_t next_sibling = kNone;
    uint32_t depth = 0;
    int64_t self = 0;
    int64_t total = 0;
    int64_t baseline_self = 0;
    int64_t baseline_total = 0;
  };

  std::vector<Node> nodes;  // nodes[0] is the root; parents stand before their children
  uint32_t max_depth = 0;

  const Node& root() const { return nodes[0]; }
};

// Children are in the given order; ties by name. The root's total is the sum of the weights that
// passed the filters.
CallTree build_call_tree(const FrameProfile& profile, TreeDirection direction, ChildOrder order);

}  // namespace vesta
