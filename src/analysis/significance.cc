#include "analysis/significance.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace vesta {
namespace {

// Where fewer are expected in one of the four cells, the z-test promises too much: five samples
// against none have p = 0.025 by it, and 0.062 in truth.
constexpr double kSmallCell = 25;

// Whole numbers up to here are exact, and more samples than this nobody has.
constexpr double kMostSamples = 4e15;

struct Counts {
  double part_before;
  double whole_before;
  double part_after;
  double whole_after;
};

// Whole samples, no part larger than its whole.
Counts whole_counts(const ShareChange& change) {
  const auto whole = [](double count) {
    return std::isnan(count) ? 0 : std::clamp(std::round(count), 0.0, kMostSamples);
  };
  Counts out{whole(change.part_before), whole(change.whole_before), whole(change.part_after),
             whole(change.whole_after)};
  out.part_before = std::min(out.part_before, out.whole_before);
  out.part_after = std::min(out.part_after, out.whole_after);
  return out;
}

// The same question in other words, so that what is small stands first: the side with fewer
// samples, and of that side the part or the rest, whichever is rarer in all.
Counts small_first(Counts c) {
  if (c.whole_before > c.whole_after) {
    std::swap(c.part_before, c.part_after);
    std::swap(c.whole_before, c.whole_after);
  }
  if (2 * (c.part_before + c.part_after) > c.whole_before + c.whole_after) {
    c.part_before = c.whole_before - c.part_before;
    c.part_after = c.whole_after - c.part_after;
  }
  return c;
}

// In the smallest of the four cells, if there is no difference.
// REQUIRES: small_first()
double smallest_expected(const Counts& c) {
  return (c.part_before + c.part_after) * c.whole_before / (c.whole_before + c.whole_after);
}

// Of the tables with these sums, those that are no likelier than this one. Weights are relative to
// the likeliest table, which is near kSmallCell at most, so that nothing overflows; they fall off
// fast on both sides of it, and the walk ends where they are 0.
// REQUIRES: small_first()
double exact_p_value(const Counts& c) {
  const double parts = c.part_before + c.part_after;
  const auto least = static_cast<int64_t>(std::max(0.0, parts - c.whole_after));
  const auto most = static_cast<int64_t>(std::min(parts, c.whole_before));
  // weight(k + 1) / weight(k)
  const auto ratio = [&](int64_t at) {
    const auto k = static_cast<double>(at);
    return (parts - k) * (c.whole_before - k) / ((k + 1) * (c.whole_after - parts + k + 1));
  };
  const auto mode = std::clamp(static_cast<int64_t>((parts + 1) * (c.whole_before + 1) /
                                                    (c.whole_before + c.whole_after + 2)),
                               least, most);
  // Calls visit(k, weight) for the likeliest table and all others that are not impossible.
  const auto for_each_table = [&](auto&& visit) {
    visit(mode, 1.0);
    double weight = 1;
    for (int64_t k = mode; k < most && weight > 0; ++k) visit(k + 1, weight *= ratio(k));
    weight = 1;
    for (int64_t k = mode; k > least && weight > 0; --k) visit(k - 1, weight /= ratio(k - 1));
  };
  const auto here = static_cast<int64_t>(c.part_before);
  double observed = 0;
  for_each_table([&](int64_t k, double weight) {
    if (k == here) observed = weight;
  });
  // Tables that are as likely as this one differ from it by rounding.
  const double limit = observed * (1 + 1e-7);
  double sum = 0;
  double tail = 0;
  for_each_table([&](int64_t, double weight) {
    sum += weight;
    if (weight <= limit) tail += weight;
  });
  return std::min(1.0, tail / sum);
}

double z_p_value(const Counts& c) {
  const double share = (c.part_before + c.part_after) / (c.whole_before + c.whole_after);
  const double variance = share * (1 - share) * (1 / c.whole_before + 1 / c.whole_after);
  const double apart = c.part_before / c.whole_before - c.part_after / c.whole_after;
  return std::erfc(std::abs(apart) / std::sqrt(variance) / std::numbers::sqrt2);
}

}  // namespace

double share_change_p_value(const ShareChange& change) {
  const Counts counts = small_first(whole_counts(change));
  if (counts.whole_before == 0 || counts.whole_after == 0) return 1;
  return smallest_expected(counts) < kSmallCell ? exact_p_value(counts) : z_p_value(counts);
}

double rate_change_p_value(const RateChange& change) {
  const double exposure = change.exposure_before + change.exposure_after;
  if (!(change.exposure_before > 0) || !(change.exposure_after > 0)) return 1;
  // Of so many moments in which an event could have been that the test of shares, which draws
  // without replacement, becomes the binomial one.
  const double per_exposure = kMostSamples / exposure;
  return share_change_p_value({change.count_before, change.exposure_before * per_exposure,
                               change.count_after, change.exposure_after * per_exposure});
}

double either_p_value(double a, double b) {
  return std::min(1.0, 2 * std::min(a, b));
}

std::vector<double> q_values(std::span<const double> p_values) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t at) { return p_values[at]; });
  std::vector<double> out(p_values.size());
  const auto count = static_cast<double>(p_values.size());
  double least = 1;
  for (size_t rank = order.size(); rank > 0; --rank) {
    const size_t at = order[rank - 1];
    least = std::min(least, p_values[at] * count / static_cast<double>(rank));
    out[at] = least;
  }
  return out;
}

}  // namespace vesta
