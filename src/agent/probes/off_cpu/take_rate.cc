#include "agent/probes/off_cpu/take_rate.h"

#include <algorithm>

namespace vesta::agent {
namespace {

constexpr double kNsPerSecond = 1e9;
// The number of takes falls at least as slowly as theta rises: a larger step up might be too large,
// but is mended within seconds; a large step down might let a thousand threads in at once.
constexpr double kMaxRise = 8;
constexpr double kMaxFall = 0.5;

uint64_t bounded(double theta_ns) {
  return static_cast<uint64_t>(std::clamp(theta_ns, static_cast<double>(TakeRate::kMinThetaNs),
                                          static_cast<double>(TakeRate::kMaxThetaNs)));
}

}  // namespace

uint32_t next_takes(uint32_t takes, double share_of_budget) {
  constexpr double kPlenty = 0.6;
  if (share_of_budget > 1) return std::max(takes / 2, kMinTakes);
  return share_of_budget < kPlenty ? std::min(takes * 2, kDefaultTakes) : takes;
}

TakeRate::TakeRate(uint32_t budget, uint64_t threads)
    : budget_(std::max(budget, 1U)),
      theta_ns_(bounded(kNsPerSecond * static_cast<double>(threads) / budget_)) {}

void TakeRate::set_budget(uint32_t budget) {
  budget_ = std::max(budget, 1U);
}

void TakeRate::update(uint64_t takes, uint64_t elapsed_ns) {
  if (elapsed_ns == 0) return;
  const double rate = static_cast<double>(takes) * kNsPerSecond / static_cast<double>(elapsed_ns);
  // A little below, so that the mean is within the budget.
  const double ratio = rate / (0.8 * budget_);
  // Within a quarter of what is wanted it stays.
  if (ratio > 0.75 && ratio <= 1.25) return;
  theta_ns_ = bounded(static_cast<double>(theta_ns_) * std::clamp(ratio, kMaxFall, kMaxRise));
}

}  // namespace vesta::agent
