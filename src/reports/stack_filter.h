// Which stacks and frames of a selection a report sees: focus, ignore, hide, show, show-from,
// prune-from, with the meaning that profile/frame_filter.h has, but asked once per node of a tree
// rather than once per stack. Values; thread-safe to ask.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "profile/filter_expressions.h"
#include "store/stack_tree.h"

namespace vesta {

class StackFilter {
 public:
  StackFilter() = default;
  // kUsage when an expression is not valid, or when it is about labels, which a selection has not
  // (labelled_samples.h).
  static Result<StackFilter> compile(const FrameFilters& filters);

  bool empty() const { return expressions_.empty(); }

  // What the expressions say about a frame.
  struct Marks {
    uint8_t focused = 0;           // by expression
    uint8_t starts = 0;            // by expression of show-from: name or file
    uint8_t starts_by_binary = 0;  // the same: the whole location
    bool ignored = false;
    bool hidden = false;
    bool ends = false;  // prune-from: what is below it is left out
  };
  // By frame of the tree; those that `used` leaves out have none.
  std::vector<Marks> marks(const StackTree& tree, std::span<const uint8_t> used) const;

  uint8_t all_focused() const { return all_bits(expressions_.focus); }
  size_t show_from_count() const { return expressions_.show_from.size(); }
  bool prunes() const { return expressions_.prune_from != nullptr; }
  // A stack that nothing is left of does not pass.
  bool drops_empty() const { return expressions_.drops_empty(); }

 private:
  FilterExpressions expressions_;
};

// Where a node of a tree stands with show-from, whose expressions are taken in order: by how many
// of them the stack has started, and which were found in the location that the node belongs to.
// Frames of one location are one, as far as these filters go: a match further in takes away those
// around it, whether or not something was shown before.
class ShowFromState {
 public:
  // A frame that is there, within the location of this state or as the start of the next one.
  // Returns whether it takes away what is around it in its location.
  bool take(const StackFilter::Marks& marks, bool same_location, size_t count) {
    if (!same_location) {
      entry_ = started_;
      found_ = 0;
    }
    bool alone = false;
    for (size_t at = 0; at < count; ++at) {
      const uint8_t bit = expression_bit(at);
      if ((marks.starts_by_binary & bit) != 0) {
        found_ |= bit;
      } else if (alone) {
        // What was found further out is gone.
        found_ = static_cast<uint8_t>((found_ & ~bit) | (marks.starts & bit));
      } else if ((found_ & bit) == 0 && (marks.starts & bit) != 0) {
        found_ |= bit;
        alone = true;
      }
    }
    started_ = entry_;
    while (started_ < count && (found_ >> started_ & 1U) != 0) ++started_;
    return alone;
  }
  // A frame that is not there.
  void skip(bool same_location) {
    if (same_location) return;
    entry_ = started_;
    found_ = 0;
  }
  uint8_t started() const { return started_; }

 private:
  uint8_t started_ = 0;
  uint8_t entry_ = 0;  // the same before the location
  uint8_t found_ = 0;  // in the location so far
};

// By node: whether a stack of some weight goes through it.
std::vector<uint8_t> used_nodes(const StackTree& tree, std::span<const int64_t> weights);

// By stack: whether something of it is left.
std::vector<uint8_t> passing_stacks(const StackTree& tree, const StackFilter& filter);

// Whether the frame stands for a function, and whether for a line of source, rather than for an
// address alone.
inline bool has_function(const StoredFrame& frame) {
  return frame.name || frame.system_name || frame.file;
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
  struct State {
    uint8_t focused = 0;
    bool ignored = false;
    bool location_kept = false;  // a frame of the location is left
  };
  const std::vector<uint8_t> used = used_nodes(tree, weights);
  const std::vector<StackFilter::Marks> marks = filter.marks(tree, used);
  const size_t show_from = filter.show_from_count();
  std::vector<uint32_t> target(tree.node_count());
  std::vector<State> state(tree.node_count());
  std::vector<ShowFromState> starts(show_from == 0 ? 0 : tree.node_count());
  std::vector<uint32_t> entry(starts.size());  // the target before the node's location
  // By prune-from: where the node's location ends, and where the stack did before it; 0 = it goes on.
  struct Ends {
    uint32_t location = 0;
    uint32_t before = 0;
    uint32_t innermost() const { return location != 0 ? location : before; }
  };
  std::vector<Ends> ends(filter.prunes() ? tree.node_count() : 0);
  for (const TreeNode id : Ids<TreeNode>(1, tree.node_count())) {
    const size_t node = id.index();
    if (used[node] == 0) continue;
    const size_t parent = tree.parent(id).index();
    const TreeFrame frame = tree.frame(id);
    const StackFilter::Marks& mark = marks[frame.index()];
    const State& before = state[parent];
    const bool inlined = tree.stored_frame(frame).inlined && parent != 0;
    State now{static_cast<uint8_t>(before.focused | mark.focused), before.ignored || mark.ignored,
              false};
    bool kept = !mark.hidden;
    uint32_t from = target[parent];
    if (!inlined && !ends.empty() && ends[parent].location != 0) from = ends[parent].location;
    bool joins_location = inlined && before.location_kept;
    bool starts_location = false;  // what is around it in its location is gone
    if (show_from != 0) {
      entry[node] = inlined ? entry[parent] : from;
      starts[node] = starts[parent];
      if (!kept) {
        starts[node].skip(inlined);
      } else if (starts[node].take(mark, inlined, show_from)) {
        from = entry[node];
        joins_location = false;
        starts_location = true;
      }
      kept = kept && starts[node].started() == show_from;
    }
    now.location_kept = kept || joins_location;
    state[node] = now;
    if (now.ignored) continue;
    target[node] = kept ? extend(from, frame, joins_location) : from;
    if (ends.empty()) continue;
    ends[node].before = inlined ? ends[parent].before : ends[parent].innermost();
    if (kept && mark.ends) {
      ends[node].location = target[node];
    } else if (inlined && !starts_location) {
      ends[node].location = ends[parent].location;
    }
  }
  const size_t stacks = std::min(weights.size(), tree.stack_count());
  for (const StackNumber stack : Ids<StackNumber>(0, stacks)) {
    if (weights[stack.index()] == 0) continue;
    const size_t leaf = tree.leaf(stack).index();
    if (filter.drops_empty() && target[leaf] == 0) continue;
    if (state[leaf].ignored || state[leaf].focused != filter.all_focused()) continue;
    const uint32_t end = ends.empty() ? 0 : ends[leaf].innermost();
    visit(stack, end != 0 ? end : target[leaf]);
  }
}

}  // namespace vesta
