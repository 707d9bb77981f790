// Spreads the total of a profile evenly over the time that it covers, so that a chart shows what
// was used when, whatever the length of profiles. Pure functions over plain data.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "profile/profile.h"
#include "store/engine.h"

namespace vesta {

// [time, time + duration), of which the first day counts: an engine that is asked for a range looks
// back as far as this. Empty without a duration.
inline constexpr int64_t kMostSpreadNs = kDay;
TimeRange spread_range(int64_t time_ns, int64_t duration_ns);

// How much of the value falls into `part` when it is spread evenly over `whole`. What falls into
// two ranges side by side adds up exactly to what falls into both together.
// REQUIRES: !whole.empty()
int64_t part_of(int64_t value, TimeRange whole, TimeRange part);

// What a profile has in each second that it covers; none when it covers no time.
std::optional<double> rate_of(int64_t value, int64_t duration_ns);

// Whether the profile starts in the range, or starts before it and covers some of it.
bool reaches_into(TimeRange range, int64_t time_ns, int64_t duration_ns);

// What a request takes of profiles, one after the other: all of each, or the part that falls into
// the range where profiles are chosen by rate.
class ProfileCut {
 public:
  // REQUIRES: the request outlives it
  explicit ProfileCut(const SelectRequest& request) : request_(request) {}

  bool cuts() const { return request_.rates.has_value(); }
  // What follows is of this profile, whose samples add up to `total`; false when it is not meant.
  bool begin(int64_t time_ns, int64_t duration_ns, int64_t total);
  // The part of the next sample. Parts add up to the part of the sum.
  int64_t operator()(int64_t value);
  // The time that is meant of the profile.
  int64_t time_ns() const { return cuts() ? part_.start_ns : time_ns_; }
  int64_t duration_ns() const {
    return cuts() ? saturating_subtract(part_.end_ns, part_.start_ns) : duration_ns_;
  }

 private:
  const SelectRequest& request_;
  int64_t time_ns_ = 0;
  int64_t duration_ns_ = 0;
  TimeRange whole_;
  TimeRange part_;
  int64_t sum_ = 0;  // of the samples so far, and
  int64_t cut_ = 0;  // its part
};

// The steps of a range: [start + k·step, start + (k+1)·step), the last one cut at the end.
class StepGrid {
 public:
  // REQUIRES: step_ns > 0
  StepGrid(TimeRange range, int64_t step_ns)
      : range_(range),
        start_(static_cast<uint64_t>(range.start_ns)),
        step_(static_cast<uint64_t>(step_ns)) {}

  const TimeRange& range() const { return range_; }
  // REQUIRES: range().contains(time_ns). The range may be wider than 63 bits.
  uint64_t number_of(int64_t time_ns) const {
    return (static_cast<uint64_t>(time_ns) - start_) / step_;
  }
  int64_t start_of(uint64_t number) const { return static_cast<int64_t>(start_ + number * step_); }
  int64_t end_of(uint64_t number) const {
    const uint64_t left = static_cast<uint64_t>(range_.end_ns) - start_ - number * step_;
    return left <= step_ ? range_.end_ns : start_of(number + 1);
  }
  // Whether all of it lies in the range, in one step. REQUIRES: !part.empty()
  bool is_one(TimeRange part) const {
    return range_.contains(part.start_ns) && part.end_ns <= range_.end_ns &&
           number_of(part.start_ns) == number_of(part.end_ns - 1);
  }

  // Calls visit(number, part) for each step that the profile covers some of; for the one that it
  // starts in when it covers no time.
  template <class Visit>
  void spread(int64_t time_ns, int64_t duration_ns, int64_t value, Visit&& visit) const {
    const TimeRange whole = spread_range(time_ns, duration_ns);
    if (whole.empty()) {
      if (range_.contains(time_ns)) visit(number_of(time_ns), value);
      return;
    }
    const int64_t from = whole.start_ns < range_.start_ns ? range_.start_ns : whole.start_ns;
    const int64_t to = whole.end_ns > range_.end_ns ? range_.end_ns : whole.end_ns;
    if (from >= to) return;
    const uint64_t last = number_of(to - 1);
    for (uint64_t number = number_of(from); number <= last; ++number) {
      const TimeRange part = {number == number_of(from) ? from : start_of(number),
                              number == last ? to : end_of(number)};
      visit(number, part == whole ? value : part_of(value, whole, part));
    }
  }

 private:
  TimeRange range_;
  uint64_t start_;
  uint64_t step_;
};

}  // namespace vesta
