#include "store/rocksdb/rollup/rollup_planner.h"

#include <algorithm>
#include <tuple>

#include "base/time.h"

namespace vesta::rocks {
namespace {

bool holds(TimeRange outer, TimeRange inner) {
  return inner.start_ns >= outer.start_ns && inner.end_ns <= outer.end_ns;
}

Piece raw_piece(Hour hour, SeriesNumber series, TimeRange range) {
  return {Piece::Kind::kRaw, Level::kSeriesHour, hour, series, range};
}
Piece rollup_piece(Level level, Bucket bucket, SeriesNumber series, TimeRange range) {
  return {Piece::Kind::kRollup, level, bucket, series, range};
}
Piece rollup_piece(Level level, Bucket bucket, SeriesNumber series) {
  return rollup_piece(level, bucket, series, bucket_range(bucket, width_ns(level)));
}

// Days of the index that touch the range.
template <class Visit>
void for_each_day(const SeriesIndex& index, TimeRange range, Visit&& visit) {
  const Day last = day_of_hour(last_hour(range));
  for (auto at = index.days().lower_bound(day_of_hour(first_hour(range)));
       at != index.days().end() && at->first <= last; ++at) {
    visit(at->first, at->second);
  }
}
// Hours of a day of the index that touch the range.
template <class Visit>
void for_each_hour(const SeriesIndex& index, Day day, TimeRange range, Visit&& visit) {
  const Hour from = std::max(first_hour_of(day), first_hour(range));
  const Hour to = std::min(first_hour_of(day) + 23, last_hour(range));
  for (auto at = index.hours().lower_bound(from); at != index.hours().end() && at->first <= to;
       ++at) {
    visit(at->first, at->second);
  }
}

}  // namespace

std::vector<std::vector<Piece>> plan_series(const PlanInput& input,
                                            const std::vector<SeriesNumber>& series) {
  std::vector<std::vector<Piece>> plan(series.size());
  if (input.range.empty()) return plan;
  const RollupView& view = input.rollups;
  const Level of_day = input.totals ? Level::kSeriesDayTotals : Level::kSeriesDay;
  const Level of_hour = input.totals ? Level::kSeriesHourTotals : Level::kSeriesHour;
  const auto fits = [&](TimeRange bucket) {
    return input.use_rollups && (input.totals || holds(input.range, bucket));
  };
  std::vector<size_t> by_hours;
  for_each_day(input.index, input.range, [&](Day day, const SeriesSet& active) {
    const TimeRange whole_day = bucket_range(day, kDay);
    const bool day_fits = day < view.days_done && fits(whole_day);
    by_hours.clear();
    for (size_t i = 0; i < series.size(); ++i) {
      if (!active.contains(series[i])) continue;
      if (day_fits && !view.dirty_series_days.contains({day, series[i]})) {
        plan[i].push_back(rollup_piece(of_day, day, series[i], overlap(input.range, whole_day)));
      } else {
        by_hours.push_back(i);
      }
    }
    if (by_hours.empty()) return;
    for_each_hour(input.index, day, input.range, [&](Hour hour, const SeriesSet& in_hour) {
      const TimeRange whole = bucket_range(hour, kHour);
      const TimeRange asked = overlap(input.range, whole);
      const bool hour_fits = hour < view.hours_done && fits(whole);
      for (const size_t i : by_hours) {
        if (!in_hour.contains(series[i])) continue;
        plan[i].push_back(hour_fits && !view.dirty_series.contains({hour, series[i]})
                              ? rollup_piece(of_hour, hour, series[i], asked)
                              : raw_piece(hour, series[i], asked));
      }
    });
  });
  return plan;
}

std::vector<Piece> plan_service(const PlanInput& input, PartitionNumber partition, TypeNumber type,
                                const SeriesSet& series) {
  std::vector<Piece> plan;
  if (input.range.empty()) return plan;
  const RollupView& view = input.rollups;
  for_each_day(input.index, input.range, [&](Day day, const SeriesSet& active) {
    if (!active.intersect(series)) return;
    if (input.use_rollups && day < view.days_done && holds(input.range, bucket_range(day, kDay)) &&
        !view.dirty_service_days.contains({day, partition, type})) {
      plan.push_back(rollup_piece(Level::kServiceDay, day, 0));
      return;
    }
    for_each_hour(input.index, day, input.range, [&](Hour hour, const SeriesSet& in_hour) {
      const SeriesSet here = in_hour & series;
      if (here.isEmpty()) return;
      const TimeRange whole = bucket_range(hour, kHour);
      const TimeRange asked = overlap(input.range, whole);
      const auto add_raw = [&](TimeRange part) {
        if (part.empty()) return;
        for (const SeriesNumber number : here) plan.push_back(raw_piece(hour, number, part));
      };
      const bool clean = input.use_rollups && hour < view.hours_done &&
                         !view.dirty_services.contains({hour, partition, type});
      if (!clean) return add_raw(asked);
      if (holds(input.range, whole)) {
        plan.push_back(rollup_piece(Level::kServiceHour, hour, 0));
        return;
      }
      // Ten minutes at the edges, where there are any as a whole.
      Bucket from = bucket_of(asked.start_ns, kTenMinutesNs);
      if (bucket_start_ns(from, kTenMinutesNs) < asked.start_ns) ++from;
      const Bucket to = bucket_of(asked.end_ns, kTenMinutesNs);
      if (from >= to) return add_raw(asked);
      add_raw({asked.start_ns, bucket_start_ns(from, kTenMinutesNs)});
      for (Bucket bucket = from; bucket < to; ++bucket)
        plan.push_back(rollup_piece(Level::kServiceTenMinutes, bucket, 0));
      add_raw({bucket_start_ns(to, kTenMinutesNs), asked.end_ns});
    });
  });
  return plan;
}

}  // namespace vesta::rocks
