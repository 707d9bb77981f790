// Totals over time as Pyroscope's clients expect them: a point at T is what happened in (T - step,
// T], for T = start + k·step. Pure but for asking the engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/api.h"
#include "server/pyroscope/query_api.h"
#include "store/engine.h"

namespace vesta::server {

// The points in time, in milliseconds.
class TimeSteps {
 public:
  // kUsage for a step below a millisecond, for a range that is no range, or for too many points.
  static Result<TimeSteps> make(int64_t start_ms, int64_t end_ms, double step_seconds);

  int64_t count() const { return count_; }
  int64_t point_ms(int64_t k) const { return start_ms_ + k * step_ms_; }
  int64_t step_ns() const;
  // What the points cover together, and what one of them covers. A millisecond belongs to a point
  // as a whole.
  TimeRange range() const;
  TimeRange range_of(int64_t k) const;
  // Which point covers the time. REQUIRES: range().contains(time_ns)
  int64_t point_of(int64_t time_ns) const;

 private:
  int64_t start_ms_ = 0;
  int64_t step_ms_ = 0;
  int64_t count_ = 0;
};

struct SeriesPoint {
  int64_t k = 0;  // of TimeSteps
  double value = 0;
};
struct LabelledSeries {
  Labels labels;
  std::vector<SeriesPoint> points;  // only those with profiles
  double total = 0;
};

struct SeriesQuery {
  // Its selector is that of series. Its range is not looked at; of stacks, only the call site
  // counts.
  StacksQuery stacks;
  std::vector<std::string> group_by;
  // Per profile, instead of all together. A gauge is never summed up over time in either case.
  bool average = false;
};

// In the order of the labels.
Result<std::vector<LabelledSeries>> total_series(const QueryApi& api, const SeriesQuery& query,
                                                 const TimeSteps& steps, const Caller& caller);

// Those with the largest totals, largest first; all in their order for 0 or less.
template <class Series>
void keep_largest(std::vector<Series>& series, int64_t limit) {
  if (limit <= 0) return;
  std::ranges::stable_sort(series, std::ranges::greater(), &Series::total);
  if (series.size() > static_cast<uint64_t>(limit)) series.resize(static_cast<size_t>(limit));
}

// The values of these labels that are not empty.
Labels project(const Labels& labels, const std::vector<std::string>& names);

}  // namespace vesta::server
