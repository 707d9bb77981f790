// The stacks of one service, as trees of parent pointers: a stack is a number, its leaf a node, and
// every node stands after its parent, so that totals are one pass from the back. Two trees grow in
// step: the exact one (function, line, file, binary, kind) and the one by function name, which
// flame graphs and tables of functions are made of. Append-only; a copy is a snapshot
// (append_log.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profile/dictionary.h"
#include "store/append_log.h"

namespace vesta {

using StackNumber = uint32_t;  // from 0, in order of appearance
using TreeNode = uint32_t;     // 0 is the root of the exact tree
using NameNode = uint32_t;     // 0 is the root of the tree by name
using TreeString = uint32_t;   // 0 is ""
using TreeFrame = uint32_t;    // 0 is the root's

// What tells two frames apart. Addresses are kept only where there is no name: they would make each
// start of a program a new one.
struct StoredFrame {
  TreeString name = 0;
  TreeString system_name = 0;
  TreeString file = 0;
  TreeString binary = 0;  // path
  TreeString build_id = 0;
  FrameKind kind = FrameKind::kUnknown;
  bool inlined = false;  // into its caller, which is the parent's frame
  uint32_t column = 0;
  int64_t line = 0;
  int64_t start_line = 0;
  uint64_t address = 0;  // in the file; only without a name
  TreeString shown = 0;  // as a person reads it: the name, or "[libc.so.6]" where there is none
  friend bool operator==(const StoredFrame&, const StoredFrame&) = default;
};

class StackTree {
 public:
  StackTree();

  // The exact tree. REQUIRES: node != 0 for parent and frame
  size_t node_count() const { return nodes_.size(); }
  TreeNode parent(TreeNode node) const { return nodes_[node].parent; }
  TreeFrame frame(TreeNode node) const { return nodes_[node].frame; }
  NameNode name_node(TreeNode node) const { return nodes_[node].name_node; }

  size_t frame_count() const { return frames_.size(); }
  const StoredFrame& stored_frame(TreeFrame frame) const { return frames_[frame]; }

  // The tree by name.
  size_t name_node_count() const { return name_nodes_.size(); }
  NameNode name_parent(NameNode node) const { return name_nodes_[node].parent; }
  TreeString name(NameNode node) const { return frame_names_[name_nodes_[node].frame]; }
  // One that stands for all frames of that name here: for file, binary and kind.
  TreeFrame name_frame(NameNode node) const { return name_nodes_[node].frame; }
  // No node between this one and the root has the same name: adding up only such nodes counts a
  // recursive function once.
  bool is_outermost(NameNode node) const { return name_nodes_[node].outermost; }

  size_t stack_count() const { return stacks_.size(); }
  TreeNode leaf(StackNumber stack) const { return stacks_[stack]; }

  size_t string_count() const { return strings_.size(); }
  std::string_view string(TreeString id) const { return strings_[id]; }

  size_t byte_size() const;

  // Growing, by StackTreeWriter or by a loader; the caller makes sure that nothing is added twice.
  TreeString add_string(std::string_view text);
  TreeFrame add_frame(const StoredFrame& frame);
  // `is_new_name`: the caller looked for a node of this name under the parent's name node.
  TreeNode add_node(TreeNode parent, TreeFrame frame, NameNode name_node);
  NameNode add_name_node(NameNode parent, TreeFrame frame);
  StackNumber add_stack(TreeNode leaf);

 private:
  struct Node {
    TreeNode parent = 0;
    TreeFrame frame = 0;
    NameNode name_node = 0;
  };
  struct ByName {
    NameNode parent : 31 = 0;
    uint32_t outermost : 1 = 0;
    TreeFrame frame = 0;
  };
  AppendLog<Node> nodes_;
  AppendLog<ByName> name_nodes_;
  AppendLog<StoredFrame> frames_;
  // `shown` of each, close together: every pass over the tree by name asks for it.
  AppendLog<TreeString> frame_names_;
  AppendLog<TreeNode> stacks_;
  AppendLog<std::string_view> strings_;
  AppendLog<std::unique_ptr<char[]>, 6> texts_;  // what strings_ points into
  size_t text_room_ = 0;
  char* text_at_ = nullptr;
  size_t text_bytes_ = 0;
};

}  // namespace vesta
