#include "formats/flamebearer/flame_bars.h"

#include <algorithm>
#include <functional>

#include "base/utf8.h"
#include "profile/profile.h"

namespace vesta {
namespace {

constexpr std::string_view kOther = "other";
constexpr uint32_t kNoName = UINT32_MAX;

FlameWeights without_negatives(const FlameTree& tree, FlameWeights weights) {
  for (int64_t& self : weights.self) self = std::max<int64_t>(self, 0);
  add_up(tree.parent, weights);
  return weights;
}

// Which nodes are drawn. A node is never without its parent: that has at least the same total, and
// stands before it.
std::vector<uint8_t> choose(const std::vector<int64_t>& sizes, size_t max_nodes) {
  std::vector<uint8_t> chosen(sizes.size());
  chosen[0] = 1;
  int64_t threshold = 1;
  size_t at_threshold = sizes.size();
  if (max_nodes != 0 && sizes.size() - 1 > max_nodes) {
    std::vector<int64_t> ordered(sizes.begin() + 1, sizes.end());
    const auto nth = ordered.begin() + static_cast<std::ptrdiff_t>(max_nodes - 1);
    std::ranges::nth_element(ordered, nth, std::ranges::greater());
    threshold = std::max<int64_t>(*nth, 1);
    const auto larger =
        std::count_if(ordered.begin(), nth, [&](int64_t size) { return size > threshold; });
    at_threshold = max_nodes - static_cast<size_t>(larger);
  }
  for (size_t node = 1; node < sizes.size(); ++node) {
    if (sizes[node] > threshold) {
      chosen[node] = 1;
    } else if (sizes[node] == threshold && at_threshold > 0) {
      chosen[node] = 1;
      --at_threshold;
    }
  }
  return chosen;
}

// Names of the graph, numbered as they are used.
class Names {
 public:
  Names(const FrameNames& names, std::vector<std::string>& out)
      : names_(names), out_(out), numbers_(names.size(), kNoName) {
    out_.emplace_back("total");
    numbers_[0] = 0;
  }
  uint32_t of(uint32_t id) {
    if (numbers_[id] == kNoName) numbers_[id] = add(names_.text(id));
    return numbers_[id];
  }
  uint32_t of_other() {
    if (other_ == kNoName) {
      for (uint32_t id = 1; id < names_.size() && other_ == kNoName; ++id) {
        if (names_[id].name == kOther && names_.text(id) == kOther) other_ = of(id);
      }
    }
    if (other_ == kNoName) other_ = add(std::string(kOther));
    return other_;
  }

 private:
  uint32_t add(std::string text) {
    out_.push_back(is_valid_utf8(text) ? std::move(text) : replace_invalid_utf8(text));
    return static_cast<uint32_t>(out_.size() - 1);
  }

  const FrameNames& names_;
  std::vector<std::string>& out_;
  std::vector<uint32_t> numbers_;  // by id
  uint32_t other_ = kNoName;
};

}  // namespace

FlameBars to_flame_bars(const FlameTree& tree, size_t max_nodes) {
  const bool is_comparison = tree.has_baseline();
  const FlameWeights right = without_negatives(tree, tree.weights);
  const FlameWeights left = without_negatives(tree, tree.baseline);
  std::vector<int64_t> sizes = right.total;
  for (size_t node = 0; node < left.total.size(); ++node) {
    sizes[node] = std::max(sizes[node], left.total[node]);
  }
  const std::vector<uint8_t> chosen = choose(sizes, max_nodes);
  const Children children(tree.parent);

  FlameBars out;
  Names names(*tree.names, out.names);
  std::vector<uint32_t> nodes;  // of the tree, bar by bar; kNoName for `other`
  const auto add = [&](uint32_t name, uint32_t node) {
    nodes.push_back(node);
    FlameBar& bar = out.bars.emplace_back();
    bar.name = name;
    bar.self = right.self[node];
    bar.total = right.total[node];
    if (is_comparison) out.left.push_back({name, 0, 0, left.self[node], left.total[node]});
  };
  // What was cut is a bar without anything below it, or part of the function of that name.
  const auto add_other = [&](size_t first, int64_t cut, int64_t left_cut) {
    const uint32_t name = names.of_other();
    size_t at = first;
    while (at < out.bars.size() && out.bars[at].name != name) ++at;
    if (at == out.bars.size()) {
      nodes.push_back(kNoName);
      out.bars.push_back({name, 0, 0, 0, 0});
      if (is_comparison) out.left.push_back({name, 0, 0, 0, 0});
    }
    const auto grow = [](FlameBar& bar, int64_t by) {
      bar.self = saturating_add(bar.self, by);
      bar.total = saturating_add(bar.total, by);
    };
    grow(out.bars[at], cut);
    if (is_comparison) grow(out.left[at], left_cut);
  };

  add(0, 0);
  std::vector<uint32_t> drawn;
  for (size_t at = 0; at < out.bars.size(); ++at) {
    const size_t first = out.bars.size();
    out.bars[at].first_child = static_cast<uint32_t>(first);
    if (nodes[at] == kNoName) continue;
    drawn.clear();
    int64_t cut = 0;
    int64_t left_cut = 0;
    for (const uint32_t child : children.of(nodes[at])) {
      if (chosen[child] != 0) {
        drawn.push_back(child);
      } else {
        cut = saturating_add(cut, right.total[child]);
        if (is_comparison) left_cut = saturating_add(left_cut, left.total[child]);
      }
    }
    std::ranges::sort(drawn, [&](uint32_t a, uint32_t b) {
      return tree.names->is_before(tree.name[a], tree.name[b]);
    });
    for (const uint32_t node : drawn) add(names.of(tree.name[node]), node);
    if (cut > 0 || left_cut > 0) add_other(first, cut, left_cut);
    out.bars[at].child_count = static_cast<uint32_t>(out.bars.size() - first);
  }
  return out;
}

}  // namespace vesta
