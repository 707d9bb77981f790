// Whether a difference between two profiles is more than chance: a test of two shares, and the
// correction for asking about many functions at once. Pure functions.
//
// Samples are taken as independent of each other. Load that changes from minute to minute is not
// chance in this sense, and shows as a difference.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vesta {

// So many of all samples, before and after.
struct ShareChange {
  double part_before = 0;
  double whole_before = 0;
  double part_after = 0;
  double whole_after = 0;
};

// How likely shares at least this far apart are if there is no difference; from 0 to 1, two-sided.
// Fisher's exact test where a count is expected to be small, as most functions have it, else the
// z-test of two proportions with the pooled variance. 1 when either side has no samples.
double share_change_p_value(const ShareChange& change);

// So many events, each side watched for so long.
struct RateChange {
  double count_before = 0;
  double exposure_before = 0;
  double count_after = 0;
  double exposure_after = 0;
};

// How likely rates at least this far apart are if there is no difference: of all events, those of
// one side follow a binomial distribution with its share of the exposure. 1 without an exposure.
double rate_change_p_value(const RateChange& change);

// The same for two questions about one thing, such as a function's own weight and that of all it
// calls: the smaller of both, doubled.
double either_p_value(double a, double b);

// Benjamini-Hochberg: among all whose q-value is below x, at most a share of x is expected to be
// chance. In the order of the p-values; holds for those that depend on each other positively, as a
// function and its callers do.
std::vector<double> q_values(std::span<const double> p_values);

// Below this a change is called significant.
inline constexpr double kSignificantQ = 0.05;

}  // namespace vesta
