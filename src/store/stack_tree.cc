#include "store/stack_tree.h"

#include <algorithm>
#include <cstring>

namespace vesta {
namespace {

constexpr size_t kTextChunk = 16 * 1024;

}  // namespace

StackTree::StackTree() {
  strings_.push_back({});
  frames_.push_back({});
  frame_names_.push_back({});
  nodes_.push_back({});
  name_nodes_.push_back({});
}

TreeString StackTree::add_string(std::string_view text) {
  if (text.size() > text_room_) {
    const size_t room = std::max(kTextChunk, text.size());
    auto chunk = std::make_unique<char[]>(room);
    text_at_ = chunk.get();
    text_room_ = room;
    text_bytes_ += room;
    texts_.push_back(std::move(chunk));
  }
  if (!text.empty()) std::memcpy(text_at_, text.data(), text.size());
  const std::string_view kept(text_at_, text.size());
  text_at_ += text.size();
  text_room_ -= text.size();
  return TreeString(strings_.push_back(kept));
}

TreeFrame StackTree::add_frame(const StoredFrame& frame) {
  frame_names_.push_back(frame.shown);
  return TreeFrame(frames_.push_back(frame));
}

TreeNode StackTree::add_node(TreeNode parent, TreeFrame frame, NameNode name_node) {
  return TreeNode(nodes_.push_back({parent, frame, name_node}));
}

NameNode StackTree::add_name_node(NameNode parent, TreeFrame frame) {
  const TreeString shown = frame_names_[frame.index()];
  bool outermost = true;
  for (NameNode above = parent; above && outermost; above = name_parent(above))
    outermost = name(above) != shown;
  ByName node;
  node.parent = parent.value & 0x7fffffffU;
  node.outermost = outermost ? 1 : 0;
  node.frame = frame;
  return NameNode(name_nodes_.push_back(node));
}

StackNumber StackTree::add_stack(TreeNode leaf) {
  return StackNumber(stacks_.push_back(leaf));
}

size_t StackTree::byte_size() const {
  return nodes_.byte_size() + name_nodes_.byte_size() + frames_.byte_size() +
         frame_names_.byte_size() + stacks_.byte_size() + strings_.byte_size() +
         texts_.byte_size() + text_bytes_;
}

}  // namespace vesta
