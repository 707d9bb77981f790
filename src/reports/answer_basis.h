// What an answer rests on: how many samples, how much time; how two answers are made comparable,
// and what a reader has to be careful about. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/frame_profile.h"
#include "store/selection.h"

namespace vesta {

// The number of independent samples behind the total; 0 = not known.
uint64_t effective_samples(const Selection& selection);

struct AnswerBasis {
  std::optional<uint64_t> samples;  // none: not known
  int64_t duration_ns = 0;          // the sum over instances
  int64_t covered_ns = 0;           // their union, within the range that was asked for
  std::vector<ReportWarning> warnings;

  // How many ran at once, on average; none when no time is known.
  std::optional<double> instances() const;
};
AnswerBasis basis_of(const Selection& selection, int64_t covered_ns);

enum class CompareBy : uint8_t {
  kRate,      // per second of profile time, and so per instance
  kAbsolute,  // totals as they are
  kShare,     // both totals are made equal
};
// "rate", "absolute", "normalized"
std::string_view compare_word(CompareBy by);

struct ComparisonBasis {
  CompareBy by = CompareBy::kRate;  // what is done, which may not be what was asked for
  double baseline_factor = 1;       // what values of the baseline are multiplied with
  std::vector<ReportWarning> warnings;
};
// Gauges are compared as they are: they are averages over time already.
ComparisonBasis compare_by(CompareBy asked, Temporality temporality, const AnswerBasis& before,
                           const AnswerBasis& after);

}  // namespace vesta
