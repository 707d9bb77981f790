#include "agent/self/governor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace vesta::agent {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr double kSmoothedSeconds = 30;
constexpr double kRecentSeconds = 3;
// How far ahead the smoothed share is foretold, so that the rate goes down before it is too high.
constexpr double kForesightSeconds = 10;
// Shares of the budget. Between the last two nothing changes: that is what keeps it from swinging.
constexpr double kLowerAbove = 0.92;
constexpr double kLowerTo = 0.75;
constexpr double kRaiseBelow = 0.80;  // when the cost grows as the rate does: the worst case
constexpr double kProbeBelow = 0.55;  // when most of the cost may be there at any rate
constexpr uint64_t kSettleNs = 4 * kSecondNs;
constexpr uint64_t kRaiseWaitNs = 15 * kSecondNs;
constexpr uint64_t kProbeWaitNs = 45 * kSecondNs;
constexpr uint64_t kMaxRaiseWaitNs = 900 * kSecondNs;
// A rate that has to be given up sooner was too high from the start.
constexpr uint64_t kRegretNs = 90 * kSecondNs;

// A lowering is judged when most of what it changed shows.
constexpr uint64_t kJudgeNs = 10 * kSecondNs;
// It was of use when it saved at least this share of what it would have saved if all of the cost
// were that of samples.
constexpr double kOfUse = 0.25;
// Of the budget, whatever the rest costs.
constexpr double kAlwaysForSamples = 0.25;
constexpr uint64_t kHoldNs = 60 * kSecondNs;
constexpr uint64_t kMaxHoldNs = 480 * kSecondNs;
constexpr double kGrown = 1.3;

constexpr std::array<uint32_t, 12> kLadder = {1, 3, 5, 7, 11, 19, 29, 37, 47, 61, 79, 99};

double weight(double seconds, double time_constant) {
  return 1 - std::exp(-seconds / time_constant);
}

}  // namespace

std::vector<uint32_t> Governor::ladder(uint32_t min_rate, uint32_t max_rate) {
  max_rate = std::max<uint32_t>(max_rate, 1);
  min_rate = std::clamp<uint32_t>(min_rate, 1, max_rate);
  std::vector<uint32_t> rates = {min_rate};
  for (const uint32_t rate : kLadder)
    if (rate > min_rate && rate < max_rate) rates.push_back(rate);
  // Above the ladder: some five steps for each factor of ten, all of them odd.
  for (uint64_t rate = 157; rate < max_rate; rate = (rate * 8 / 5) | 1)
    if (rate > min_rate) rates.push_back(static_cast<uint32_t>(rate));
  if (max_rate > min_rate) rates.push_back(max_rate);
  return rates;
}

Governor::Governor(const GovernorOptions& options)
    : options_(options),
      rates_(ladder(options.min_rate, options.max_rate)),
      at_(rates_.size() - 1),
      raise_wait_ns_(kRaiseWaitNs),
      hold_wait_ns_(kHoldNs) {}

uint32_t Governor::update(const CpuUsage& usage) {
  const CpuUsage before = last_;
  if (!has_usage_) {
    has_usage_ = true;
    last_ = usage;
    warm_until_ns_ = usage.wall_ns + options_.warm_up_ns;
    return rate();
  }
  if (usage.wall_ns <= before.wall_ns) return rate();
  last_ = usage;
  if (usage.wall_ns < warm_until_ns_) return rate();
  // Counters may restart when what they count is loaded anew.
  const auto grown = [](uint64_t now, uint64_t then) { return now > then ? now - then : 0; };
  const double wall = static_cast<double>(usage.wall_ns - before.wall_ns);
  const double share =
      static_cast<double>(grown(usage.own_ns, before.own_ns) + grown(usage.bpf_ns, before.bpf_ns)) /
      wall;
  const double seconds = wall / static_cast<double>(kSecondNs);
  smoothed_ += (share - smoothed_) * weight(seconds, kSmoothedSeconds);
  recent_ += (share - recent_) * weight(seconds, kRecentSeconds);

  const uint64_t now = usage.wall_ns;
  judge_lowering(now);
  const double foretold =
      smoothed_ + (recent_ - smoothed_) * weight(kForesightSeconds, kSmoothedSeconds);
  const double budget = options_.cpu_share;
  if (now - changed_ns_ < kSettleNs && changed_ns_ != 0) return rate();
  // When it is dear over 30 s but cheap by now, it mends itself.
  if (std::max(foretold, smoothed_) > kLowerAbove * budget && recent_ > kLowerTo * budget) {
    lower(now);
  } else if (at_ + 1 < rates_.size()) {
    raise(now);
  }
  return rate();
}

void Governor::judge_lowering(uint64_t now_ns) {
  if (lowered_from_ == 0 || now_ns - changed_ns_ < kJudgeNs) return;
  const uint32_t from = std::exchange(lowered_from_, 0);
  const double saved = std::max(cost_before_ - recent_, 0.0);
  if (saved >= kOfUse * cost_before_ * (1 - static_cast<double>(rate()) / from)) {
    hold_wait_ns_ = kHoldNs;
    held_until_ns_ = 0;
    return;
  }
  // As much of it is taken back as samples may cost when the rest cannot be helped.
  const double per_rate = saved / (from - rate());
  size_t to = at_;
  while (to + 1 < rates_.size() && rates_[to + 1] <= from &&
         rates_[to + 1] * per_rate <= kAlwaysForSamples * options_.cpu_share) {
    ++to;
  }
  if (to != at_) change(to, now_ns);
  held_until_ns_ = now_ns + hold_wait_ns_;
  held_cost_ = recent_;
  hold_wait_ns_ = std::min(hold_wait_ns_ * 2, kMaxHoldNs);
}

bool Governor::is_held(uint64_t now_ns) const {
  // When the cost has grown since, it may be made of something else.
  return now_ns < held_until_ns_ && recent_ < kGrown * held_cost_;
}

void Governor::lower(uint64_t now_ns) {
  if (at_ == 0 || lowered_from_ != 0 || is_held(now_ns)) return;
  if (raised_ns_ != 0 && now_ns - raised_ns_ < kRegretNs) {
    raise_wait_ns_ = std::min(raise_wait_ns_ * 2, kMaxRaiseWaitNs);
    raised_ns_ = 0;
  }
  const double allowed = kLowerTo * options_.cpu_share / recent_ * rates_[at_];
  size_t to = at_ - 1;
  while (to > 0 && rates_[to] > allowed) --to;
  const uint32_t from = rate();
  change(to, now_ns);
  lowered_from_ = from;
  cost_before_ = recent_;
}

void Governor::raise(uint64_t now_ns) {
  const uint64_t waited = now_ns - changed_ns_;
  // What the last raise cost is known by now, and was not too much.
  if (raised_ns_ != 0 && now_ns - raised_ns_ > 4 * kRegretNs) raise_wait_ns_ = kRaiseWaitNs;
  const double budget = options_.cpu_share;
  const double cost = std::max(smoothed_, recent_);
  const double growth = static_cast<double>(rates_[at_ + 1]) / rates_[at_];
  const bool will_fit = cost * growth < kRaiseBelow * budget && waited >= raise_wait_ns_;
  const bool may_fit =
      cost < kProbeBelow * budget && waited >= std::max(kProbeWaitNs, raise_wait_ns_ * 2);
  if (!will_fit && !may_fit) return;
  raised_ns_ = now_ns;
  change(at_ + 1, now_ns);
}

void Governor::change(size_t to, uint64_t now_ns) {
  at_ = to;
  changed_ns_ = now_ns;
  lowered_from_ = 0;
  ++changes_;
}

}  // namespace vesta::agent
