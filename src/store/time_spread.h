// Spreads the total of a profile evenly over the time that it covers, so that a chart shows what
// was used when, whatever the length of profiles. Pure functions over plain data.
#pragma once

#include <cstdint>

#include "base/time.h"
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
