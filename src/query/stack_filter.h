// Which stacks and frames of a selection a report sees: focus, ignore, hide, show, show-from, with
// the meaning that profile/frame_filter.h has, but asked once per node of a tree rather than once
// per stack. Values; thread-safe to ask.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "profile/frame_profile.h"
#include "store/stack_tree.h"

namespace re2 {
class RE2;
}

namespace vesta {

class StackFilter {
 public:
  StackFilter() = default;
  // kUsage when an expression is not valid, or when it is about labels, which a selection has not.
  static Result<StackFilter> compile(const FrameFilters& filters);

  bool empty() const { return !by_name() && !show_from_; }

  enum Mark : uint8_t {
    kFocused = 1,
    kIgnored = 2,
    kHidden = 4,
    kStarts = 8,           // show-from: by name or file
    kStartsByBinary = 16,  // show-from: the whole location
  };
  // By frame of the tree; those that `used` leaves out have none.
  std::vector<uint8_t> marks(const StackTree& tree, std::span<const uint8_t> used) const;

  bool by_name() const { return focus_ || ignore_ || hide_ || show_; }
  bool has_show_from() const { return show_from_ != nullptr; }

 private:
  std::shared_ptr<const re2::RE2> focus_;
  std::shared_ptr<const re2::RE2> ignore_;
  std::shared_ptr<const re2::RE2> hide_;
  std::shared_ptr<const re2::RE2> show_;
  std::shared_ptr<const re2::RE2> show_from_;
};

// By node: whether a stack of some weight goes through it.
std::vector<uint8_t> used_nodes(const StackTree& tree, std::span<const int64_t> weights);

// Whether the frame stands for a function, and whether for a line of source, rather than for an
// address alone.
inline bool has_function(const StoredFrame& frame) {
  return frame.name != 0 || frame.system_name != 0 || frame.file != 0;
}
inline bool has_line(const StoredFrame& frame) {
  return has_function(frame) || frame.line != 0;
}

// What is left of each stack, as a tree that the caller grows. `extend(node, frame, inlined)`
// returns the caller's node for that frame under that one, where 0 is the root; it is called once
// for each node of the tree that is left, parents first. `visit(stack, node)` is called for each
// stack of some weight that passes, with the node of its leaf.
template <class Extend, class Visit>
void place_stacks(const StackTree& tree, std::span<const int64_t> weights,
                  const StackFilter& filter, Extend&& extend, Visit&& visit) {
  enum State : uint8_t {
    kFocused = 1,
    kIgnored = 2,
    kStarted = 4,          // show-from: a frame is shown already
    kEntryStarted = 8,     // the same before the location that the node belongs to
    kLocationMarked = 16,  // show-from: the location has a matching frame so far
    kLocationKept = 32,    // a frame of the location is left
  };
  const std::vector<uint8_t> used = used_nodes(tree, weights);
  const std::vector<uint8_t> marks = filter.marks(tree, used);
  std::vector<uint32_t> target(tree.node_count());
  std::vector<uint8_t> state(tree.node_count());
  std::vector<uint32_t> entry(filter.has_show_from() ? tree.node_count() : 0);
  for (TreeNode node = 1; node < tree.node_count(); ++node) {
    if (used[node] == 0) continue;
    const TreeNode parent = tree.parent(node);
    const TreeFrame frame = tree.frame(node);
    const uint8_t mark = marks[frame];
    const uint8_t before = state[parent];
    const bool inlined = tree.stored_frame(frame).inlined && parent != 0;
    uint8_t now = before & (kFocused | kIgnored | kStarted);
    if ((mark & StackFilter::kFocused) != 0) now |= kFocused;
    if ((mark & StackFilter::kIgnored) != 0) now |= kIgnored;
    bool kept = (mark & StackFilter::kHidden) == 0;
    uint32_t from = target[parent];
    bool joins_location = inlined && (before & kLocationKept) != 0;
    if (filter.has_show_from()) {
      // Frames of one location are one, as far as this filter goes: a match further in takes away
      // those around it, whether or not something was shown before.
      if (inlined) {
        entry[node] = entry[parent];
        now |= before & (kLocationMarked | kEntryStarted);
      } else {
        entry[node] = target[parent];
        if ((before & kStarted) != 0) now |= kEntryStarted;
        if ((mark & StackFilter::kStartsByBinary) != 0) now |= kLocationMarked;
      }
      if (kept && (now & kLocationMarked) == 0 && (mark & StackFilter::kStarts) != 0) {
        now |= kLocationMarked;
        from = entry[node];
        joins_location = false;
      }
      kept = kept && (now & (kLocationMarked | kEntryStarted)) != 0;
      if (kept) now |= kStarted;
    }
    if (inlined && joins_location) now |= kLocationKept;
    if (kept) now |= kLocationKept;
    state[node] = now;
    if ((now & kIgnored) != 0) continue;
    target[node] = kept ? extend(from, frame, joins_location) : from;
  }
  const size_t stacks = std::min(weights.size(), tree.stack_count());
  for (StackNumber stack = 0; stack < stacks; ++stack) {
    if (weights[stack] == 0) continue;
    const TreeNode leaf = tree.leaf(stack);
    if (filter.by_name() &&
        ((state[leaf] & kIgnored) != 0 || (state[leaf] & kFocused) == 0 || target[leaf] == 0)) {
      continue;
    }
    if (filter.has_show_from() && target[leaf] == 0) continue;
    visit(stack, target[leaf]);
  }
}

}  // namespace vesta
