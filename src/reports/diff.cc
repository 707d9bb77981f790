#include "reports/diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "profile/carried_rounding.h"
#include "profile/merge/merger.h"

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

// Whether the sides are of like duration, within a fifth; unknown ones are.
bool is_like(int64_t before_ns, int64_t after_ns) {
  if (before_ns <= 0 || after_ns <= 0) return true;
  const auto [shorter, longer] = std::minmax(before_ns, after_ns);
  return longer - shorter <= longer / 5;
}

void warn_of_durations(int64_t before_ns, int64_t after_ns, DiffScale scale, FrameProfile& out) {
  if (is_like(before_ns, after_ns)) return;
  const std::string_view how = scale == DiffScale::kRate         ? "comparing rates"
                               : scale == DiffScale::kNormalized ? "comparing shares"
                                                                 : "comparing totals";
  out.warnings.push_back(
      {"coverage_differs", fmt::format("before: {}, after: {}; {}", format_span(before_ns),
                                       format_span(after_ns), how)});
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
                 "choose a type that both profiles have with --type"};
  }
  Merger merger;
  merger.add(before, 0, kBefore);
  merger.add(after, 0, kAfter);
  const auto both = std::make_shared<const ProfileBatch>(merger.take().batch);
  MergedProfile old_side = side(both, before_type, kBefore);
  MergedProfile new_side = side(both, after_type, kAfter);
  const uint64_t samples_before = samples_behind(old_side);
  const uint64_t samples_after = samples_behind(new_side);
  if (scale == DiffScale::kNormalized) {
    const int64_t old_total = total_of(old_side);
    const int64_t new_total = total_of(new_side);
    if (new_total != 0)
      scale_samples(new_side, static_cast<double>(old_total) / static_cast<double>(new_total));
  }
  const int64_t before_ns = old_side.duration_ns;
  const int64_t after_ns = new_side.duration_ns;
  const bool is_gauge = old_side.temporality == Temporality::kInstant;
  const bool knows_rates = before_ns > 0 && after_ns > 0;
  const bool compares_rates = scale == DiffScale::kRate && !is_gauge && knows_rates;
  if (compares_rates)
    scale_samples(old_side, static_cast<double>(after_ns) / static_cast<double>(before_ns));
  VESTA_ASSIGN(FrameProfile out, resolve_frames(old_side, new_side, options));
  // As they were taken, not as they are scaled.
  out.baseline_samples = samples_before;
  out.samples = samples_after;
  out.compares_rates = compares_rates;
  out.warn_of_few_samples(samples_before, "before: ");
  out.warn_of_few_samples(samples_after, "after: ");
  if (is_gauge) return out;
  if (scale == DiffScale::kRate && !knows_rates) {
    out.warnings.push_back(
        {"duration_unknown", "a profile does not state its duration; comparing totals"});
  }
  warn_of_durations(before_ns, after_ns, scale, out);
  return out;
}

FunctionTable diff_table(const FrameProfile& profile) {
  FunctionTable table = function_table(profile);
  ComparedSamples samples{.before = profile.baseline_samples, .after = profile.samples};
  if (profile.compares_rates) {
    samples.before_ns = profile.baseline_duration_ns;
    samples.after_ns = profile.duration_ns;
  }
  test_changes(table, samples);
  return table;
}

}  // namespace vesta
