#include "store/time_spread.h"

#include <algorithm>

#include "profile/profile.h"

namespace vesta {

TimeRange spread_range(int64_t time_ns, int64_t duration_ns) {
  const int64_t length = std::clamp<int64_t>(duration_ns, 0, kMostSpreadNs);
  return {time_ns, saturating_add(time_ns, length)};
}

int64_t part_of(int64_t value, TimeRange whole, TimeRange part) {
  __extension__ using Wide = __int128;
  const Wide length = static_cast<Wide>(whole.end_ns) - whole.start_ns;
  // What has fallen due up to a time, rounded towards nothing.
  const auto until = [&](int64_t time_ns) {
    const Wide passed = std::clamp<Wide>(static_cast<Wide>(time_ns) - whole.start_ns, 0, length);
    return static_cast<int64_t>(value * passed / length);
  };
  return part.empty() ? 0 : until(part.end_ns) - until(part.start_ns);
}

std::optional<double> rate_of(int64_t value, int64_t duration_ns) {
  const int64_t length = std::min(duration_ns, kMostSpreadNs);
  if (length <= 0) return std::nullopt;
  return static_cast<double>(value) / (static_cast<double>(length) / static_cast<double>(kSecond));
}

bool reaches_into(TimeRange range, int64_t time_ns, int64_t duration_ns) {
  return range.contains(time_ns) || !overlap(spread_range(time_ns, duration_ns), range).empty();
}

bool ProfileCut::begin(int64_t time_ns, int64_t duration_ns, int64_t total) {
  time_ns_ = time_ns;
  duration_ns_ = duration_ns;
  if (!cuts()) return true;
  sum_ = cut_ = 0;
  whole_ = spread_range(time_ns, duration_ns);
  part_ = overlap(whole_, request_.range);
  if (part_.empty() || request_.type.temporality() != Temporality::kCumulative) return false;
  const std::optional<double> rate = rate_of(total, duration_ns);
  return rate && request_.rates->contains(*rate);
}

int64_t ProfileCut::operator()(int64_t value) {
  if (!cuts()) return value;
  sum_ = saturating_add(sum_, value);
  const int64_t before = cut_;
  cut_ = part_of(sum_, whole_, part_);
  return saturating_subtract(cut_, before);
}

}  // namespace vesta
