// Adds stacks of a Dictionary to a StackTree, so that equal frames, names and paths are stored
// once. Refers to the tree, which must outlive it and must not be grown by others meanwhile. Not
// thread-safe; snapshots of the tree may be read at any time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/id_index.h"
#include "profile/dictionary.h"
#include "store/stack_numbers.h"
#include "store/stack_tree.h"

namespace vesta {

class StackTreeWriter {
 public:
  // The frames that the locations of a dictionary have in the tree, each found once: stacks share
  // most of their locations. Empty at first; for one dictionary and one tree.
  class LocationFrames {
    friend class StackTreeWriter;
    struct Place {
      uint32_t first = 0;
      uint32_t count = 0;
    };
    std::vector<Place> places_;      // by location; a count of 0: not found yet
    std::vector<TreeFrame> frames_;  // of a location side by side, from the outermost one inwards
  };

  // Indexes what the tree has, if anything.
  explicit StackTreeWriter(StackTree& tree);

  TreeString string(std::string_view text);
  // The node of the leaf; 0 for a stack without frames.
  TreeNode path(const Dictionary& dictionary, StackId stack, LocationFrames& found);

  // The number of the stack with this hash (of stack_hashes()), which is added if it is new.
  // REQUIRES: `numbers` knows the stacks of the tree, and no others
  StackNumber number(StackNumbers& numbers, const Hash128& hash, const Dictionary& dictionary,
                     StackId stack, LocationFrames& found);

  // Of the indexes; the tree has its own.
  size_t byte_size() const;

 private:
  std::span<const TreeFrame> frames(const Dictionary& dictionary, LocationId location,
                                    LocationFrames& found);
  TreeFrame frame(const Dictionary& dictionary, LocationId location, size_t line_index);
  TreeFrame add_frame(const StoredFrame& frame);
  TreeNode child(TreeNode parent, TreeFrame frame);
  NameNode name_child(NameNode parent, TreeFrame frame);
  TreeString shown(std::string_view name, std::string_view system_name, std::string_view binary);

  StackTree& tree_;
  IdIndex strings_;
  IdIndex frames_;
  IdIndex nodes_;
  IdIndex name_nodes_;
};

}  // namespace vesta
