#include "agent/limits/governor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace vesta::agent {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kMinuteNs = 60 * kSecondNs;
constexpr double kSmoothedSeconds = 120;
constexpr double kRecentSeconds = 15;

// Shares of the budget. What lies between them changes nothing: that keeps it from swinging.
constexpr double kLowerTo = 0.9;
constexpr double kRaiseTo = 0.75;
// Of the budget, for samples, whatever the rest costs.
constexpr double kAlwaysForSamples = 0.25;
// A lower rate is worth it when it saves at least this share of what is beyond the budget.
constexpr double kWorthLowering = 0.25;
constexpr double kWorthStaying = 0.15;
// And, where it does not bring the cost within the budget, at least this share of all of it: less
// is lost in what the cost varies by.
constexpr double kNoticeable = 0.15;
// The budget is exceeded when it was for so long; by far, and one need not wait as long.
constexpr uint64_t kOverNs = kMinuteNs;
constexpr uint64_t kFarOverNs = 15 * kSecondNs;
constexpr double kFarOver = 3;
constexpr uint64_t kLowerWaitNs = 2 * kMinuteNs;  // after any change
constexpr uint64_t kRaiseWaitNs = 5 * kMinuteNs;
constexpr uint64_t kMaxRaiseWaitNs = 160 * kMinuteNs;
// A rate that has to be given up sooner was too high from the start.
constexpr uint64_t kRegretNs = 15 * kMinuteNs;

// Cost is compared by blocks of so many seconds: two windows, so that what is done once in a window
// is in each of them.
constexpr double kBlockSeconds = 20;
// The first block begins when the samples of the former rates are through.
constexpr uint64_t kTrialDelayNs = 10 * kSecondNs;
// A lowering needs so many blocks before it, and more where they differ a lot.
constexpr size_t kMinBlocksBefore = 3;
constexpr size_t kMaxBlocksBefore = 15;
constexpr double kKnownWell = 0.25;  // standard error, as a share of what is to be saved
// A trial ends when what it found is this many standard errors from changing the verdict.
constexpr size_t kMinBlocksAfter = 4;
constexpr double kSignificant = 2;
constexpr uint64_t kMaxTrialNs = 12 * kMinuteNs;
constexpr uint64_t kTrustNs = 90 * kMinuteNs;
constexpr uint64_t kMaxTrustNs = 720 * kMinuteNs;

constexpr uint64_t kBoundPeriodNs = 5 * kMinuteNs;
constexpr double kBoundSamples = 200;  // fewer tell little
constexpr double kUnknownNs = 1e15;

constexpr std::array<uint32_t, 12> kLadder = {1, 3, 5, 7, 11, 19, 29, 37, 47, 61, 79, 99};

// Counters may restart when what they count is loaded anew.
double grown(uint64_t now, uint64_t then) {
  return now > then ? static_cast<double>(now - then) : 0;
}

}  // namespace

void SampleCostBound::add(uint64_t now_ns, double own_ns, double samples) {
  const uint64_t period = now_ns / kBoundPeriodNs;
  for (uint64_t gone = std::min<uint64_t>(period - period_, kPeriods); gone > 0; --gone)
    least_[(period - gone + 1) % kPeriods] = 0;
  period_ = period;
  own_ns_ += own_ns;
  samples_ += samples;
  if (samples_ < kBoundSamples) return;
  double& least = least_[period % kPeriods];
  const double each = own_ns_ / samples_;
  least = least == 0 ? each : std::min(least, each);
  own_ns_ = 0;
  samples_ = 0;
}

double SampleCostBound::ns() const {
  double out = kUnknownNs;
  for (const double least : least_)
    if (least > 0) out = std::min(out, least);
  return out;
}

bool CostAtRates::add(uint64_t now_ns, double seconds, double own_ns, double samples) {
  if (now_ns <= from_ns_) return false;
  block_own_ns_ += own_ns;
  block_samples_ += samples;
  block_seconds_ += seconds;
  if (block_seconds_ < kBlockSeconds) return false;
  const double each = block_own_ns_ / block_seconds_;
  ++blocks_;
  const double delta = each - mean_;
  mean_ += delta / static_cast<double>(blocks_);
  squares_ += delta * (each - mean_);
  samples_ += block_samples_;
  seconds_ += block_seconds_;
  block_own_ns_ = block_samples_ = block_seconds_ = 0;
  return true;
}

double CostAtRates::standard_error(const CostAtRates& a, const CostAtRates& b) {
  const double blocks = static_cast<double>(a.blocks_ + b.blocks_);
  if (a.blocks_ == 0 || b.blocks_ == 0 || blocks < 3) return kUnknownNs;
  const double variance = (a.relative_squares() + b.relative_squares()) / (blocks - 2);
  return std::sqrt(variance * (a.mean_ * a.mean_ / static_cast<double>(a.blocks_) +
                               b.mean_ * b.mean_ / static_cast<double>(b.blocks_)));
}

double CostAtRates::standard_error() const {
  if (blocks_ < 2) return kUnknownNs;
  const double blocks = static_cast<double>(blocks_);
  return std::sqrt(squares_ / (blocks - 1) / blocks);
}

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
      trust_ns_(kTrustNs),
      lower_wait_ns_(kLowerWaitNs),
      raise_wait_ns_(kRaiseWaitNs) {
  for (const RateBounds& bounds : options.rates) {
    Probe& probe = probes_.emplace_back();
    probe.rates = ladder(bounds.min, bounds.max);
    probe.at = probe.rates.size() - 1;
  }
}

bool Governor::is_limiting() const {
  return std::ranges::any_of(probes_,
                             [](const Probe& probe) { return probe.at + 1 < probe.rates.size(); });
}

void Governor::update(const CpuUsage& usage) {
  const CpuUsage before = last_;
  if (!has_usage_) {
    has_usage_ = true;
    last_ = usage;
    warm_until_ns_ = usage.wall_ns + options_.warm_up_ns;
    return;
  }
  if (usage.wall_ns <= before.wall_ns) return;
  last_ = usage;
  if (usage.wall_ns < warm_until_ns_) return;
  measure(usage, before);
  judge_trial(usage.wall_ns);
  note_fixed();
  if (!lower_if_it_helps(usage.wall_ns)) raise_if_there_was_room(usage.wall_ns);
}

bool Governor::lower_if_it_helps(uint64_t now_ns) {
  const bool is_over = share() > options_.cpu_share;
  if (!is_over) over_since_ns_ = 0;
  if (is_over && over_since_ns_ == 0) {
    over_since_ns_ = now_ns;
    if (trial_.start_ns == 0) level_ = CostAtRates(now_ns);  // it was another load before
  }
  const uint64_t waited = changed_ns_ == 0 ? UINT64_MAX : now_ns - changed_ns_;
  const bool is_far = share() > kFarOver * options_.cpu_share;
  // When it was dear but is cheap by now, nothing needs to change.
  const bool is_over_now = recent_ > options_.cpu_share;
  if (!is_over || !is_over_now || now_ns - over_since_ns_ < (is_far ? kFarOverNs : kOverNs) ||
      waited < lower_wait_ns_)
    return false;
  Positions to = best(kLowerTo, kWorthLowering);
  for (size_t i = 0; i < probes_.size(); ++i) {
    const Probe& probe = probes_[i];
    to[i] = std::min(to[i], probe.at);
    // By half at most: whether that helps is seen first.
    while (to[i] < probe.at && probe.rates[to[i]] * 2 + 1 < probe.rate()) ++to[i];
  }
  if (to == current() || !is_known_well_enough(to)) return false;
  if (raised_ns_ != 0 && now_ns - raised_ns_ < kRegretNs)
    raise_wait_ns_ = std::min(raise_wait_ns_ * 2, kMaxRaiseWaitNs);
  trial_ = {now_ns, level_};
  change(to, now_ns);
  return true;
}

// The cost before a lowering, so that what it saves can be told from noise.
bool Governor::is_known_well_enough(const Positions& to) const {
  if (trial_.start_ns != 0) return false;  // what the last one saved is not clear yet
  if (bound_.ns() >= kUnknownNs || level_.blocks() < kMinBlocksBefore) return false;
  double expected = 0;
  for (size_t i = 0; i < probes_.size(); ++i) {
    const Probe& probe = probes_[i];
    const double factor = static_cast<double>(probe.rates[to[i]]) / probe.rate();
    expected += (probe.bpf + own_of_samples(probe)) * (1 - factor) * static_cast<double>(kSecondNs);
  }
  return level_.standard_error() <= kKnownWell * expected || level_.blocks() >= kMaxBlocksBefore;
}

// All the time, not only now. While one should rather be lowered, none is raised.
void Governor::raise_if_there_was_room(uint64_t now_ns) {
  const Positions to = best(kRaiseTo, kWorthStaying);
  const Positions at = current();
  const bool has_room =
      to != at && std::ranges::equal(to, at, [](size_t a, size_t b) { return a >= b; });
  if (!has_room) {
    room_since_ns_ = 0;
    return;
  }
  if (room_since_ns_ == 0) {
    room_since_ns_ = now_ns;
    room_ = to;
  }
  for (size_t i = 0; i < to.size(); ++i) room_[i] = std::min(room_[i], to[i]);
  if (now_ns - room_since_ns_ < raise_wait_ns_) return;
  // Several probes may have had room in turn, and none all the time.
  room_since_ns_ = 0;
  if (room_ == at) return;
  raised_ns_ = now_ns;
  trial_ = Trial();
  change(room_, now_ns);
}

void Governor::measure(const CpuUsage& usage, const CpuUsage& before) {
  const double wall = static_cast<double>(usage.wall_ns - before.wall_ns);
  const double seconds = wall / static_cast<double>(kSecondNs);
  const double own_ns = grown(usage.own_ns, before.own_ns);
  const double other_ns = grown(usage.other_bpf_ns, before.other_bpf_ns);
  // A plain mean until there is enough of it.
  seconds_ += seconds;
  const double weight =
      std::max(1 - std::exp(-seconds / kSmoothedSeconds), std::min(1.0, seconds / seconds_));
  own_ += (own_ns / wall - own_) * weight;
  other_ += (other_ns / wall - other_) * weight;
  double all_ns = own_ns + other_ns;
  double all_samples = 0;
  for (size_t i = 0; i < probes_.size(); ++i) {
    const double bpf_ns = grown(usage.probes[i].bpf_ns, before.probes[i].bpf_ns);
    const double samples = grown(usage.probes[i].samples, before.probes[i].samples);
    Probe& probe = probes_[i];
    probe.bpf += (bpf_ns / wall - probe.bpf) * weight;
    probe.samples += (samples / seconds - probe.samples) * weight;
    all_ns += bpf_ns;
    all_samples += samples;
  }
  const double recent_weight = 1 - std::exp(-seconds / kRecentSeconds);
  recent_ += (all_ns / wall - recent_) * recent_weight;
  // The least of single seconds would be mostly noise.
  if (bound_block_.add(usage.wall_ns, seconds, own_ns, all_samples)) {
    bound_.add(usage.wall_ns, bound_block_.own_ns(), bound_block_.samples());
    bound_block_ = CostAtRates(usage.wall_ns);
  }
  has_new_block_ = level_.add(usage.wall_ns, seconds, own_ns, all_samples);
}

// Of the cost, by what was measured since the last change.
void Governor::assume(double sample_ns) {
  tried_ns_ = std::clamp(sample_ns, 0.0, bound_.ns());
  tried_until_ns_ = last_.wall_ns + trust_ns_;
  own_ = level_.own_ns() / static_cast<double>(kSecondNs);
  const double factor = samples() == 0 ? 1 : level_.samples() / samples();
  for (Probe& probe : probes_) probe.samples *= factor;
}

// Whether there was no reason to lower any rate, if a sample costs the threads that much. Rates that
// could be a bit higher are raised as ever, when there was room for some minutes.
bool Governor::is_in_vain_if(double sample_ns) const {
  Governor other = *this;
  other.assume(sample_ns);
  return other.best(kLowerTo, kWorthStaying) == highest();
}

void Governor::judge_trial(uint64_t now_ns) {
  if (trial_.start_ns == 0 || !has_new_block_ || level_.blocks() < kMinBlocksAfter) return;
  const bool is_last = now_ns - trial_.start_ns > kMaxTrialNs;
  const double fewer = trial_.before.samples() - level_.samples();
  // The host has become busier meanwhile: that tells nothing.
  if (fewer < 0.1 * trial_.before.samples()) {
    if (is_last) trial_ = Trial();
    return;
  }
  const double saved_ns = trial_.before.own_ns() - level_.own_ns();
  const double doubt_ns =
      is_last ? 0 : kSignificant * CostAtRates::standard_error(trial_.before, level_);
  const bool is_in_vain = is_in_vain_if(saved_ns / fewer);
  // Undone when that is right even if it saved as much as it may have; kept when that is right even
  // if it saved as little.
  const bool is_clear = is_in_vain ? is_in_vain_if((saved_ns + doubt_ns) / fewer)
                                   : !is_in_vain_if((saved_ns - doubt_ns) / fewer);
  if (!is_clear) return;
  assume(saved_ns / fewer);
  trial_ = Trial();
  if (!is_in_vain) return;
  trust_ns_ = std::min(trust_ns_ * 2, kMaxTrustNs);
  lower_wait_ns_ = std::min(lower_wait_ns_ * 2, kMaxRaiseWaitNs);
  change(highest(), now_ns);
}

double Governor::bpf() const {
  double sum = 0;
  for (const Probe& probe : probes_) sum += probe.bpf;
  return sum;
}

double Governor::samples() const {
  double sum = 0;
  for (const Probe& probe : probes_) sum += probe.samples;
  return sum;
}

// What one sample more costs the threads.
double Governor::sample_ns() const {
  const bool is_tried = tried_ns_ >= 0 && last_.wall_ns < tried_until_ns_;
  return is_tried ? std::min(tried_ns_, bound_.ns()) : bound_.ns();
}

double Governor::sample_share() const {
  const double own = sample_ns() * samples() / static_cast<double>(kSecondNs);
  return bpf() + std::min(own, own_);
}

// Whichever probe made it, a sample costs the threads the same.
double Governor::own_of_samples(const Probe& probe) const {
  const double all = samples();
  return all == 0 ? 0 : (sample_share() - bpf()) * probe.samples / all;
}

double Governor::cost_by_rate(const Probe& probe) const {
  return (probe.bpf + own_of_samples(probe)) / probe.rate();
}

Governor::Positions Governor::current() const {
  Positions at;
  for (const Probe& probe : probes_) at.push_back(probe.at);
  return at;
}

Governor::Positions Governor::highest() const {
  Positions at;
  for (const Probe& probe : probes_) at.push_back(probe.rates.size() - 1);
  return at;
}

// The highest rates with which the cost is within `margin` of the budget; the highest of all where
// lower ones would save less than `worth` of what is beyond the budget, or nothing to speak of.
Governor::Positions Governor::best(double margin, double worth) const {
  const double budget = options_.cpu_share;
  const double fixed = fixed_share();
  double allowed = std::max(margin * budget - fixed, margin * kAlwaysForSamples * budget);
  const auto full_cost = [&](const Probe& probe) {
    return probe.rates.back() * cost_by_rate(probe);
  };
  // Those that need least are served first, so that what they leave is for the others.
  std::vector<size_t> order(probes_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return full_cost(probes_[i]); });
  Positions to(probes_.size());
  double beyond = fixed - budget;
  double saved = 0;
  for (size_t served = 0; served < order.size(); ++served) {
    const Probe& probe = probes_[order[served]];
    const double each = cost_by_rate(probe);
    const double part = allowed / static_cast<double>(order.size() - served);
    size_t& position = to[order[served]];
    while (position + 1 < probe.rates.size() && probe.rates[position + 1] * each <= part)
      ++position;
    allowed = std::max(allowed - probe.rates[position] * each, 0.0);
    beyond += full_cost(probe);
    saved += (probe.rates.back() - probe.rates[position]) * each;
  }
  const bool is_noticeable = saved >= beyond || saved >= kNoticeable * (budget + beyond);
  if (beyond > 0 && (saved < worth * beyond || !is_noticeable)) return highest();
  return to;
}

void Governor::note_fixed() {
  // So that it does not come and go.
  const double limit = options_.cpu_share * (is_fixed_over_ ? kRaiseTo : 1);
  is_fixed_over_ = fixed_share() > limit;
}

void Governor::change(const Positions& to, uint64_t now_ns) {
  // The averages go on as if the rates had been those all the time.
  std::vector<double> own;
  for (const Probe& probe : probes_) own.push_back(own_of_samples(probe));
  for (size_t i = 0; i < probes_.size(); ++i) {
    Probe& probe = probes_[i];
    const double factor = static_cast<double>(probe.rates[to[i]]) / probe.rate();
    own_ += own[i] * (factor - 1);
    probe.bpf *= factor;
    probe.samples *= factor;
    probe.at = to[i];
  }
  level_ = CostAtRates(now_ns + kTrialDelayNs);
  changed_ns_ = now_ns;
  over_since_ns_ = 0;
  room_since_ns_ = 0;
  ++changes_;
}

}  // namespace vesta::agent
