#include "store/totals_groups.h"

#include <algorithm>

#include "base/labels.h"
#include "profile/carried_rounding.h"

namespace vesta {

TotalsGroups::TotalsGroups(const TotalsRequest& request, QueryCost& cost)
    : grid_(request.range, request.step_ns),
      is_instant_(request.type.temporality() == Temporality::kInstant),
      cost_(cost) {}

Status TotalsGroups::add(const Labels& labels, const StepSums& steps, const TimeCover& cover) {
  if (steps.empty()) return {};
  Group& group = groups_[labels];
  for (const auto& [number, part] : steps) {
    const auto [at, is_new] = group.points.try_emplace(number);
    if (is_new) VESTA_TRY(cost_.add(sizeof(TotalsPoint)));
    TotalsPoint& point = at->second;
    point.time_ns = grid_.start_of(number);
    const int64_t value =
        is_instant_ ? CarriedDivision(static_cast<int64_t>(part.profiles))(part.sum) : part.sum;
    point.value = saturating_add(point.value, value);
    point.sum = saturating_add(point.sum, part.sum);
    point.profiles += part.profiles;
  }
  const size_t before = group.cover.byte_size();
  group.cover.add(cover);
  const size_t after = group.cover.byte_size();
  return after > before ? cost_.add(after - before) : Status();
}

std::vector<TotalsSeries> TotalsGroups::finish() const {
  std::vector<TotalsSeries> out;
  out.reserve(groups_.size());
  for (const auto& [labels, group] : groups_) {
    TotalsSeries& series = out.emplace_back(TotalsSeries{labels, {}});
    series.points.reserve(group.points.size());
    CoverCursor cover(group.cover);
    for (const auto& [number, point] : group.points) {
      series.points.push_back(point);
      series.points.back().covered_ns = cover.length_in({point.time_ns, grid_.end_of(number)});
    }
  }
  return out;
}

}  // namespace vesta
