#include "profile/diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "profile/carried_rounding.h"
#include "profile/merger.h"

namespace vesta {
namespace {

// Sides are told apart by profile name while they share a batch.
constexpr std::string_view kBefore = "before:";
constexpr std::string_view kAfter = "after:";

MergedProfile side(const std::shared_ptr<const ProfileBatch>& both, TypeInfo type,
                   std::string_view mark) {
  type.name = std::string(mark) + type.name;
  return select_type(both, type);
}

void scale_samples(MergedProfile& profile, double factor) {
  CarriedScaling scaled(factor);
  for (WeightedStack& sample : profile.samples) sample.value = scaled(sample.value);
}

}  // namespace

Result<FrameProfile> compare_profiles(const ProfileBatch& before, const ProfileBatch& after,
                                      std::string_view type_word, DiffScale scale,
                                      const FrameOptions& options) {
  VESTA_ASSIGN(const TypeInfo before_type, find_type(list_types(before), type_word));
  // Without a word, what is shown first in `before` decides, so that both sides are of one type.
  VESTA_ASSIGN(const TypeInfo after_type,
               find_type(list_types(after),
                         type_word.empty() ? std::string_view(before_type.type) : type_word));
  if (before_type.unit != after_type.unit) {
    return Error{ErrorCode::kUsage,
                 fmt::format("cannot compare {} ({}) with {} ({})", before_type.type,
                             before_type.unit, after_type.type, after_type.unit),
                 "name a type that both have with --type"};
  }
  Merger merger;
  merger.add(before, 0, kBefore);
  merger.add(after, 0, kAfter);
  const auto both = std::make_shared<const ProfileBatch>(merger.take().batch);
  const MergedProfile old_side = side(both, before_type, kBefore);
  MergedProfile new_side = side(both, after_type, kAfter);
  if (scale == DiffScale::kNormalized) {
    const int64_t old_total = total_of(old_side);
    const int64_t new_total = total_of(new_side);
    if (new_total != 0)
      scale_samples(new_side, static_cast<double>(old_total) / static_cast<double>(new_total));
  }
  return resolve_frames(old_side, new_side, options);
}

std::vector<DiffRow> diff_table(const FrameProfile& profile, TopOrder order) {
  std::vector<DiffRow> rows;
  for (const TopRow& top : top_table(profile, order)) {
    rows.push_back({top, saturating_subtract(top.flat, top.baseline_flat),
                    saturating_subtract(top.cum, top.baseline_cum)});
  }
  // The top table is sorted by weight and name already; a stable sort keeps that for ties.
  std::stable_sort(rows.begin(), rows.end(), [order](const DiffRow& a, const DiffRow& b) {
    const auto change = [order](const DiffRow& r) {
      return saturating_abs(order == TopOrder::kByFlat ? r.flat_delta : r.cum_delta);
    };
    return change(a) > change(b);
  });
  return rows;
}

}  // namespace vesta
