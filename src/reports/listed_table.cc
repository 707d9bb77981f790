// The table of functions of a profile whose stacks are lists: no tree is made.
#include "profile/frame_names.h"
#include "profile/stack_totals.h"
#include "reports/function_table.h"

namespace vesta {
namespace {

// Flat and cumulative weight of every frame; a column each, because they are visited in the order
// of stacks, and what is not needed should not take up cache.
struct FrameSums {
  explicit FrameSums(size_t frames) : flat(frames), cum(frames) {}

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

InlineUses inline_uses(const FrameProfile& profile) {
  InlineUses uses(profile.frames.size());
  for (const auto& [caller, callee] : profile.inlined_calls) uses.add(caller.value, callee.value);
  uses.seal();
  if (uses.empty()) return uses;
  for (size_t at = 0; at < profile.stacks.size(); ++at) {
    const auto stack = profile.stacks[FrameStackId(at)];
    for (size_t i = 0; i + 1 < stack.size(); ++i) {
      const uint32_t callee = stack[i].frame().value;
      if (stack[i].inlined() || !uses.is_ever_inlined(callee)) continue;
      uses.see(stack[i + 1].frame().value, callee, [&] {
        for (size_t above = i + 1; above + 1 < stack.size(); ++above) {
          if (stack[above].frame() == stack[i].frame() &&
              stack[above + 1].frame() == stack[i + 1].frame())
            return false;
        }
        return true;
      });
    }
  }
  return uses;
}

}  // namespace

FunctionTable function_table(const FrameProfile& profile) {
  const size_t frames = profile.frames.size();
  const StackTotals totals(profile);
  FrameSums sums(frames);
  sums.add(profile, totals.value);
  FrameSums baseline(profile.has_baseline ? frames : 0);
  if (profile.has_baseline) baseline.add(profile, totals.baseline);
  const InlineUses uses = inline_uses(profile);

  FunctionTable table;
  table.names = std::make_shared<FrameNames>(profile);
  table.whole = profile.total;
  table.baseline_whole = profile.baseline_total;
  table.has_baseline = profile.has_baseline;
  for (uint32_t i = 1; i < frames; ++i) {
    FunctionRow row;
    row.name = i;
    row.inlined = uses.of(i);
    row.flat = sums.flat[i];
    row.cum = sums.cum[i];
    if (profile.has_baseline) {
      row.baseline_flat = baseline.flat[i];
      row.baseline_cum = baseline.cum[i];
    }
    if (row.flat != 0 || row.cum != 0 || row.baseline_flat != 0 || row.baseline_cum != 0)
      table.rows.push_back(row);
  }
  return table;
}

FunctionTable top_functions(const FrameProfile& profile, const RowChoice& choice) {
  FunctionTable table = function_table(profile);
  choose_rows(table, choice);
  return table;
}

}  // namespace vesta
