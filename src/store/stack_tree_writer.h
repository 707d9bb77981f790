// Adds stacks of a Dictionary to a StackTree, so that equal frames, names and paths are stored
// once. Refers to the tree, which must outlive it and must not be grown by others meanwhile. Not
// thread-safe; snapshots of the tree may be read at any time.
#pragma once

#include <string_view>
#include <vector>

#include "base/id_index.h"
#include "profile/dictionary.h"
#include "store/stack_numbers.h"
#include "store/stack_tree.h"

namespace vesta {

class StackTreeWriter {
 public:
  // Indexes what the tree has, if anything.
  explicit StackTreeWriter(StackTree& tree);

  TreeString string(std::string_view text);
  // The node of the leaf; 0 for a stack without frames.
  TreeNode path(const Dictionary& dictionary, StackId stack);

  // The number of the stack with this hash (of stack_hashes()), which is added if it is new.
  // REQUIRES: `numbers` knows the stacks of the tree, and no others
  StackNumber number(StackNumbers& numbers, const Hash128& hash, const Dictionary& dictionary,
                     StackId stack);

  // Of the indexes; the tree has its own.
  size_t byte_size() const;

 private:
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
