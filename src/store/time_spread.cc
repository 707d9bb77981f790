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

}  // namespace vesta
