#include "reports/answer_basis.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "profile/effective_samples.h"
#include "profile/profile.h"

namespace vesta {
namespace {

std::optional<uint64_t> samples_of(const Selection& selection) {
  if (selection.total == 0) return 0;
  const uint64_t samples = effective_samples(selection);
  return samples == 0 ? std::nullopt : std::optional(samples);
}

// "23 min × 3.0 instances"
std::string time_text(const AnswerBasis& basis) {
  return fmt::format("{} × {:.1f} instances", format_span(basis.covered_ns),
                     basis.instances().value_or(0));
}

bool is_empty(const AnswerBasis& basis) {
  return basis.samples == uint64_t{0} && basis.duration_ns == 0;
}

}  // namespace

uint64_t effective_samples(const Selection& selection) {
  const ProfileType& type = selection.type;
  return effective_samples(SampledWeight{type.sample_type, type.sample_unit, type.period_type,
                                         type.period_unit, selection.period, selection.total});
}

std::optional<double> AnswerBasis::instances() const {
  if (covered_ns <= 0 || duration_ns <= 0) return std::nullopt;
  return static_cast<double>(duration_ns) / static_cast<double>(covered_ns);
}

AnswerBasis basis_of(const Selection& selection, int64_t covered_ns) {
  AnswerBasis basis;
  basis.samples = samples_of(selection);
  basis.duration_ns = selection.covered.duration_ns();
  basis.covered_ns = covered_ns;
  if (selection.profiles != 0 && basis.samples && *basis.samples < kFewSamples)
    basis.warnings.push_back({"few_samples", few_samples_text(*basis.samples)});
  return basis;
}

std::string_view compare_word(CompareBy by) {
  switch (by) {
    case CompareBy::kRate:
      return "rate";
    case CompareBy::kAbsolute:
      return "absolute";
    case CompareBy::kShare:
      return "normalized";
  }
  return "";
}

ComparisonBasis compare_by(CompareBy asked, Temporality temporality, const AnswerBasis& before,
                           const AnswerBasis& after) {
  ComparisonBasis out;
  out.by = asked;
  const bool is_gauge = temporality == Temporality::kInstant;
  if (asked == CompareBy::kRate && is_gauge) out.by = CompareBy::kAbsolute;
  if (is_empty(before) || is_empty(after)) return out;
  const auto shorter = static_cast<double>(std::min(before.duration_ns, after.duration_ns));
  const auto longer = static_cast<double>(std::max(before.duration_ns, after.duration_ns));
  if (shorter <= 0) {
    if (out.by != CompareBy::kRate) return out;
    out.by = CompareBy::kAbsolute;
    out.warnings.push_back({"duration_unknown",
                            "not all profiles state their duration; comparing totals, which depend "
                            "on the time that each side covers"});
    return out;
  }
  if (out.by == CompareBy::kRate) {
    out.baseline_factor =
        static_cast<double>(after.duration_ns) / static_cast<double>(before.duration_ns);
  }
  if (longer - shorter > longer / 5) {
    const std::string_view how = out.by == CompareBy::kRate    ? "comparing rates per instance"
                                 : out.by == CompareBy::kShare ? "comparing shares"
                                 : is_gauge                    ? "comparing averages unscaled"
                                                               : "comparing totals unscaled";
    out.warnings.push_back(
        {"coverage_differs",
         fmt::format("baseline: {}, selection: {}; {}", time_text(before), time_text(after), how)});
  }
  return out;
}

}  // namespace vesta
