#include "profile/top_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "profile/stack_totals.h"

namespace vesta {
namespace {

// Flat and cumulative weight of every frame; a column each, because they are visited in the order
// of stacks, and what is not needed should not take up cache.
struct Sums {
  explicit Sums(size_t frames) : flat(frames), cum(frames) {}

  void add(const FrameProfile& profile, const std::vector<int64_t>& weights) {
    std::vector<uint32_t> last_seen(cum.size());  // the stack that counted it, plus one
    for (size_t at = 0; at < weights.size(); ++at) {
      if (weights[at] == 0) continue;
      const auto stack = profile.stacks[FrameStackId(at)];
      if (stack.empty()) continue;
      for (const FrameRef ref : stack) {
        const size_t frame = ref.frame().index();
        if (last_seen[frame] == at + 1) continue;
        last_seen[frame] = static_cast<uint32_t>(at + 1);
        cum[frame] = saturating_add(cum[frame], weights[at]);
      }
      int64_t& leaf = flat[stack[0].frame().index()];
      leaf = saturating_add(leaf, weights[at]);
    }
  }

  std::vector<int64_t> flat;
  std::vector<int64_t> cum;
};

// Whether frames were inlined by their callers, by pprof's rules: an edge is inlined if the
// outermost of its calls is so in every stack, and a frame is what the edges to it are. Edges that
// can be inlined are few and known beforehand, so all others need no table.
class InlineUses {
 public:
  explicit InlineUses(const FrameProfile& profile)
      : first_(profile.frames.size() + 1),
        is_ever_inlined_(profile.frames.size()),
        is_called_(profile.frames.size()) {
    calls_ = profile.inlined_calls;
    std::ranges::sort(calls_, {},
                      [](const auto& call) { return std::pair(call.second, call.first); });
    calls_.erase(std::unique(calls_.begin(), calls_.end()), calls_.end());
    is_broken_.resize(calls_.size());
    for (const auto& [caller, callee] : calls_) {
      ++first_[callee.index() + 1];
      is_ever_inlined_[callee.index()] = 1;
    }
    for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    if (calls_.empty()) return;
    for (size_t at = 0; at < profile.stacks.size(); ++at) look_at(profile.stacks[FrameStackId(at)]);
  }

  InlineUse of(FrameId id) const {
    bool inlined = false;
    bool called = is_called_[id.index()] != 0;
    for (uint32_t i = first_[id.index()]; i < first_[id.index() + 1]; ++i)
      (is_broken_[i] != 0 ? called : inlined) = true;
    if (!inlined) return InlineUse::kNever;
    return called ? InlineUse::kSometimes : InlineUse::kAlways;
  }

 private:
  void look_at(std::span<const FrameRef> stack) {
    for (size_t i = 0; i + 1 < stack.size(); ++i) {
      if (stack[i].inlined()) continue;
      const FrameId callee = stack[i].frame();
      if (is_ever_inlined_[callee.index()] == 0) continue;
      const FrameId caller = stack[i + 1].frame();
      if (caller == callee) continue;
      uint32_t at = first_[callee.index()];
      const uint32_t end = first_[callee.index() + 1];
      while (at < end && calls_[at].first != caller) ++at;
      if (at == end) {
        is_called_[callee.index()] = 1;
      } else if (is_broken_[at] == 0 && is_outermost(stack, i)) {
        is_broken_[at] = 1;
      }
    }
  }

  // No call of the same pair is nearer the root.
  static bool is_outermost(std::span<const FrameRef> stack, size_t at) {
    for (size_t i = at + 1; i + 1 < stack.size(); ++i) {
      if (stack[i].frame() == stack[at].frame() && stack[i + 1].frame() == stack[at + 1].frame())
        return false;
    }
    return true;
  }

  std::vector<std::pair<FrameId, FrameId>> calls_;  // by callee
  std::vector<uint32_t> first_;                     // in calls_, by callee
  std::vector<uint8_t> is_broken_;                  // by call: not inlined somewhere
  std::vector<uint8_t> is_ever_inlined_;            // by frame
  std::vector<uint8_t> is_called_;                  // by frame: from a caller that never inlines it
};

}  // namespace

std::vector<TopRow> top_table(const FrameProfile& profile, TopOrder order) {
  const size_t frames = profile.frames.size();
  const StackTotals totals(profile);
  Sums sums(frames);
  sums.add(profile, totals.value);
  Sums baseline(profile.has_baseline ? frames : 0);
  if (profile.has_baseline) baseline.add(profile, totals.baseline);
  const InlineUses uses(profile);

  std::vector<TopRow> rows;
  for (size_t i = 1; i < frames; ++i) {
    TopRow row;
    row.frame = FrameId(i);
    row.inlined = uses.of(FrameId(i));
    row.flat = sums.flat[i];
    row.cum = sums.cum[i];
    if (profile.has_baseline) {
      row.baseline_flat = baseline.flat[i];
      row.baseline_cum = baseline.cum[i];
    }
    if (row.flat != 0 || row.cum != 0 || row.baseline_flat != 0 || row.baseline_cum != 0)
      rows.push_back(row);
  }
  std::vector<std::string> names(frames);
  for (const TopRow& row : rows) names[row.frame.index()] = display_name(profile, row.frame);
  std::sort(rows.begin(), rows.end(), [&](const TopRow& a, const TopRow& b) {
    const auto key = [&](const TopRow& r) {
      const int64_t flat = saturating_abs(r.flat);
      const int64_t cum = saturating_abs(r.cum);
      return order == TopOrder::kByFlat ? std::pair(flat, cum) : std::pair(cum, flat);
    };
    const auto left = key(a);
    const auto right = key(b);
    if (left.first != right.first) return left.first > right.first;
    const int by_name = names[a.frame.index()].compare(names[b.frame.index()]);
    if (by_name != 0) return by_name < 0;
    if (left.second != right.second) return left.second > right.second;
    return a.frame < b.frame;
  });
  return rows;
}

}  // namespace vesta
