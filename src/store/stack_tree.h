// The stacks of one service, as trees of parent pointers: a stack is a number, its leaf a node, and
// every node stands after its parent, so that totals are one pass from the back. Two trees grow in
// step: the exact one (function, line, file, binary, kind) and the one by function name, which
// flame graphs and tables of functions are made of. Append-only; a copy is a snapshot
// (append_log.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/strong_id.h"
#include "profile/dictionary.h"
#include "store/append_log.h"

namespace vesta {

using StackNumber = StrongId<struct StackNumberTag>;  // from 0, in order of appearance
using TreeNode = StrongId<struct TreeNodeTag>;        // 0 is the root of the exact tree
using NameNode = StrongId<struct NameNodeTag>;        // 0 is the root of the tree by name
using TreeString = StrongId<struct TreeStringTag>;    // 0 is ""
using TreeFrame = StrongId<struct TreeFrameTag>;      // 0 is the root's

// Those from the first to before the end: `for (const TreeNode node : Ids<TreeNode>(1, count))`.
// (clang 14 cannot compile the views of GCC's library that would do this.)
template <class Id>
class Ids {
 public:
  constexpr Ids(size_t first, size_t end) : first_(first), end_(std::max(first, end)) {}

  struct IdIterator {
    size_t index;
    constexpr Id operator*() const { return Id(index); }
    constexpr IdIterator& operator++() { return ++index, *this; }
    friend constexpr bool operator==(IdIterator, IdIterator) = default;
  };
  constexpr IdIterator begin() const { return {first_}; }
  constexpr IdIterator end() const { return {end_}; }

 private:
  size_t first_;
  size_t end_;
};

// What tells two frames apart. Addresses are kept only where there is no name: they would make each
// start of a program a new one.
struct StoredFrame {
  TreeString name;
  TreeString system_name;
  TreeString file;
  TreeString binary;  // path
  TreeString build_id;
  FrameKind kind = FrameKind::kUnknown;
  bool inlined = false;  // into its caller, which is the parent's frame
  uint32_t column = 0;
  int64_t line = 0;
  int64_t start_line = 0;
  uint64_t address = 0;  // in the file; only without a name
  TreeString shown;      // as a person reads it: the name, or "[libc.so.6]" where there is none
  friend bool operator==(const StoredFrame&, const StoredFrame&) = default;
};

class StackTree {
 public:
  StackTree();

  // The exact tree. REQUIRES: node != 0 for parent and frame
  size_t node_count() const { return nodes_.size(); }
  TreeNode parent(TreeNode node) const { return nodes_[node.index()].parent; }
  TreeFrame frame(TreeNode node) const { return nodes_[node.index()].frame; }
  NameNode name_node(TreeNode node) const { return nodes_[node.index()].name_node; }

  size_t frame_count() const { return frames_.size(); }
  const StoredFrame& stored_frame(TreeFrame frame) const { return frames_[frame.index()]; }

  // The tree by name.
  size_t name_node_count() const { return name_nodes_.size(); }
  NameNode name_parent(NameNode node) const { return NameNode(name_nodes_[node.index()].parent); }
  TreeString name(NameNode node) const { return frame_names_[name_frame(node).index()]; }
  // One that stands for all frames of that name here: for file, binary and kind.
  TreeFrame name_frame(NameNode node) const { return name_nodes_[node.index()].frame; }
  // No node between this one and the root has the same name: adding up only such nodes counts a
  // recursive function once.
  bool is_outermost(NameNode node) const { return name_nodes_[node.index()].outermost; }

  size_t stack_count() const { return stacks_.size(); }
  TreeNode leaf(StackNumber stack) const { return stacks_[stack.index()]; }

  size_t string_count() const { return strings_.size(); }
  std::string_view string(TreeString id) const { return strings_[id.index()]; }

  size_t byte_size() const;

  // Growing, by StackTreeWriter or by a loader; the caller makes sure that nothing is added twice.
  TreeString add_string(std::string_view text);
  TreeFrame add_frame(const StoredFrame& frame);
  // `name_node`: the node of the frame's name under the parent's name node.
  TreeNode add_node(TreeNode parent, TreeFrame frame, NameNode name_node);
  NameNode add_name_node(NameNode parent, TreeFrame frame);
  StackNumber add_stack(TreeNode leaf);

 private:
  struct Node {
    TreeNode parent;
    TreeFrame frame;
    NameNode name_node;
  };
  struct ByName {
    uint32_t parent : 31 = 0;
    uint32_t outermost : 1 = 0;
    TreeFrame frame;
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
