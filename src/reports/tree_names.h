// Numbers of one tree's names in a table of names, found once each. Refers to both; the table keeps
// a snapshot of the tree. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/frame_names.h"
#include "store/stack_tree.h"

namespace vesta {

class TreeNames {
 public:
  TreeNames(FrameNames& names, const StackTree& tree);
  uint32_t of(TreeFrame frame) {
    uint32_t& known = by_frame_[frame.index()];
    return known != 0 ? known : known = find(frame);
  }

 private:
  uint32_t find(TreeFrame frame);
  uint32_t add(TreeFrame frame);

  FrameNames& names_;
  const StackTree& tree_;
  std::vector<uint32_t> by_frame_;
  std::vector<uint32_t> by_string_;  // empty unless a function is all that counts
};

}  // namespace vesta
