#include "formats/flamebearer/flame_encoding.h"

#include <algorithm>

#include "formats/protobuf/wire.h"
#include "profile/profile.h"

namespace vesta {
namespace {

// Where the bars of one side begin: children follow each other from the end of what their parent
// has for itself.
std::vector<int64_t> begins(const FlameBars& tree, const std::vector<FlameBar>& side) {
  std::vector<int64_t> begin(side.size());
  for (size_t at = 0; at < side.size(); ++at) {
    int64_t next = saturating_add(begin[at], side[at].self);
    const FlameBar& shape = tree.bars[at];
    for (size_t child = 0; child < shape.child_count; ++child) {
      begin[shape.first_child + child] = next;
      next = saturating_add(next, side[shape.first_child + child].total);
    }
  }
  return begin;
}

class SideEncoder {
 public:
  SideEncoder(const FlameBars& tree, const std::vector<FlameBar>& side)
      : side_(side), begin_(begins(tree, side)) {}
  void start_level() { end_ = 0; }
  void append(size_t at, std::vector<int64_t>& level) {
    level.push_back(begin_[at] - end_);
    level.push_back(side_[at].total);
    level.push_back(side_[at].self);
    end_ = saturating_add(begin_[at], side_[at].total);
  }

 private:
  const std::vector<FlameBar>& side_;
  std::vector<int64_t> begin_;
  int64_t end_ = 0;
};

int64_t largest_self(const std::vector<FlameBar>& side) {
  int64_t largest = 0;
  for (const FlameBar& bar : side) largest = std::max(largest, bar.self);
  return largest;
}

}  // namespace

FlameLevels to_levels(const FlameBars& tree) {
  FlameLevels out;
  std::vector<SideEncoder> sides;
  if (tree.is_comparison()) sides.emplace_back(tree, tree.left);
  sides.emplace_back(tree, tree.bars);
  for (size_t first = 0, end = 1; first < end;) {
    std::vector<int64_t>& level = out.levels.emplace_back();
    level.reserve((end - first) * (sides.size() * 3 + 1));
    for (SideEncoder& side : sides) side.start_level();
    for (size_t at = first; at < end; ++at) {
      for (SideEncoder& side : sides) side.append(at, level);
      level.push_back(tree.bars[at].name);
    }
    const FlameBar& last = tree.bars[end - 1];
    first = end;
    end = last.first_child + last.child_count;
  }
  out.right_total = tree.bars[0].total;
  if (tree.is_comparison()) out.left_total = tree.left[0].total;
  out.total = saturating_add(out.left_total, out.right_total);
  out.max_self = std::max(largest_self(tree.bars), largest_self(tree.left));
  return out;
}

std::string to_tree_bytes(const FlameBars& tree) {
  if (tree.bars[0].total == 0) return {};
  WireWriter out;
  std::string bytes;
  std::vector<uint32_t> stack = {0};
  while (!stack.empty()) {
    const uint32_t at = stack.back();
    stack.pop_back();
    const FlameBar& bar = tree.bars[at];
    const std::string_view name = at == 0 ? std::string_view() : tree.names[bar.name];
    out.clear();
    out.raw_varint(name.size());
    bytes += out.view();
    bytes += name;
    out.clear();
    out.raw_varint(static_cast<uint64_t>(bar.self));
    out.raw_varint(bar.child_count);
    bytes += out.view();
    for (uint32_t child = 0; child < bar.child_count; ++child) {
      stack.push_back(bar.first_child + child);
    }
  }
  return bytes;
}

}  // namespace vesta
