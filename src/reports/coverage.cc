#include "reports/coverage.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "profile/frame_name.h"

namespace vesta {
namespace {

constexpr size_t kMostBinaries = 20;

// Frames that stand for what is missing rather than for code.
bool is_gap(std::string_view name) {
  return name == "[truncated]" || (name.ends_with(']') && (name.starts_with("[incomplete: ") ||
                                                           name.starts_with("[lost: ")));
}

// Likewise, but the stack goes on behind it.
bool is_doubt(std::string_view name) {
  return name == "[guessed caller]";
}

enum Mark : uint8_t { kNoMark = 0, kDoubt = 1, kGap = 2 };

bool is_named(const StackTree& tree, const StoredFrame& frame) {
  if (!frame.name) return static_cast<bool>(frame.system_name);
  return !is_place_name(tree.string(frame.name), tree.string(frame.binary));
}

class CoverageSums {
 public:
  void add(const ServiceStacks& service) {
    const StackTree& tree = service.tree;
    std::vector<int64_t> weight(tree.node_count());
    const size_t stacks = std::min(service.weights.size(), tree.stack_count());
    for (const StackNumber stack : Ids<StackNumber>(0, stacks)) {
      const int64_t size = saturating_abs(service.weights[stack.index()]);
      const TreeNode leaf = tree.leaf(stack);
      total_ += static_cast<double>(size);
      out_.total = saturating_add(out_.total, size);
      weight[leaf.index()] = saturating_add(weight[leaf.index()], size);
      if (leaf && is_named(tree, tree.stored_frame(tree.frame(leaf))))
        named_ += static_cast<double>(size);
    }
    find_marks(tree);
    std::vector<uint8_t> incomplete(tree.node_count());
    // From the root: a mark anywhere above spoils what is below it.
    for (const TreeNode node : Ids<TreeNode>(1, tree.node_count())) {
      incomplete[node.index()] = incomplete[tree.parent(node).index()] |
                                 uint8_t{is_mark_[tree.frame(node).index()] == kGap};
      if (incomplete[node.index()] != 0) incomplete_ += static_cast<double>(weight[node.index()]);
    }
    for (size_t i = tree.node_count(); i-- > 1;) {
      const auto node = TreeNode(i);
      const int64_t through = weight[node.index()];
      if (through == 0) continue;
      int64_t& above = weight[tree.parent(node).index()];
      above = saturating_add(above, through);
      const TreeFrame id = tree.frame(node);
      const StoredFrame& frame = tree.stored_frame(id);
      if (is_mark_[id.index()] != 0) {
        int64_t& sum = marks_[std::string(tree.string(frame.shown))];
        sum = saturating_add(sum, through);
        continue;
      }
      frames_ += static_cast<double>(through);
      if (is_named(tree, frame)) {
        named_frames_ += static_cast<double>(through);
      } else {
        int64_t& sum = binaries_[{std::string(tree.string(frame.binary)),
                                  std::string(tree.string(frame.build_id))}];
        sum = saturating_add(sum, through);
      }
    }
  }

  Coverage finish() {
    const auto share = [](double part, double whole) { return whole == 0 ? 1 : part / whole; };
    out_.named = share(named_, total_);
    out_.named_frames = share(named_frames_, frames_);
    out_.complete = share(total_ - incomplete_, total_);
    for (const auto& [name, weight] : marks_) out_.marks.push_back({name, weight});
    for (const auto& [binary, weight] : binaries_)
      out_.unnamed_binaries.push_back({binary.first, binary.second, weight});
    std::ranges::stable_sort(out_.marks, std::greater<>(), &Coverage::Mark::weight);
    std::ranges::stable_sort(out_.unnamed_binaries, std::greater<>(), &Coverage::Binary::unnamed);
    if (out_.unnamed_binaries.size() > kMostBinaries) out_.unnamed_binaries.resize(kMostBinaries);
    return std::move(out_);
  }

 private:
  static Mark mark_of(std::string_view name) {
    return is_gap(name) ? kGap : is_doubt(name) ? kDoubt : kNoMark;
  }
  void find_marks(const StackTree& tree) {
    is_mark_.assign(tree.frame_count(), 0);
    for (const TreeFrame frame : Ids<TreeFrame>(1, tree.frame_count()))
      is_mark_[frame.index()] = mark_of(tree.string(tree.stored_frame(frame).shown));
  }

  Coverage out_;
  std::vector<uint8_t> is_mark_;
  double total_ = 0;
  double named_ = 0;
  double frames_ = 0;
  double named_frames_ = 0;
  double incomplete_ = 0;
  std::map<std::string, int64_t> marks_;
  std::map<std::pair<std::string, std::string>, int64_t> binaries_;
};

}  // namespace

Coverage coverage_of(const Selection& selection) {
  CoverageSums sums;
  for (const ServiceStacks& service : selection.services) sums.add(service);
  Coverage out = sums.finish();
  out.losses = selection.losses;
  return out;
}

double named_share(const Selection& selection) {
  double named = 0;
  double all = 0;
  for (const auto& [service, tree, weights] : selection.services) {
    const size_t stacks = std::min(weights.size(), tree.stack_count());
    for (const StackNumber stack : Ids<StackNumber>(0, stacks)) {
      if (weights[stack.index()] == 0) continue;
      const auto weight = static_cast<double>(saturating_abs(weights[stack.index()]));
      const TreeNode leaf = tree.leaf(stack);
      all += weight;
      if (leaf && is_named(tree, tree.stored_frame(tree.frame(leaf)))) named += weight;
    }
  }
  return all == 0 ? 1 : named / all;
}

}  // namespace vesta
