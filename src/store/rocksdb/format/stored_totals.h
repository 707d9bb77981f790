// The totals of a series' profiles as roll-ups have them: an hour with the time, duration and total
// of each profile, so that it can be read in part; a day with the summary of each hour. README.md
// has the layouts. Bytes that are read are trusted in nothing. Pure functions over plain data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/leb128.h"
#include "base/time.h"
#include "store/rocksdb/format/keys.h"
#include "store/time_cover.h"

namespace vesta::rocks {

struct TimedTotal {
  int64_t time_ns = 0;
  int64_t duration_ns = 0;
  int64_t value = 0;
};

// The profiles that start in an hour, together.
struct HourSummary {
  Hour hour = 0;
  uint64_t profiles = 0;
  int64_t sum = 0;
  // How they are spread over time. Not known of hours that an earlier version wrote, nor where
  // they cover many ranges: then one has to look at the profiles.
  bool has_spread = false;
  int64_t inside = 0;          // of `sum`: what falls into the hour itself
  int64_t end_ns = INT64_MIN;  // where the last of them ends, at the end of the hour or later
  std::vector<TimeRange> covered = {};  // what they cover, also after the hour
};

// REQUIRES: in order of time, all in that hour, at least one
std::string encode_hour_totals(Hour hour, const std::vector<TimedTotal>& totals);
// REQUIRES: in order, all of that day
std::string encode_day_totals(Day day, const std::vector<HourSummary>& hours);

// False when the bytes are damaged; `hours` is replaced.
bool decode_day_totals(std::string_view bytes, Day day, std::vector<HourSummary>& hours);

class HourTotals {
 public:
  // False when the bytes are damaged.
  bool parse(std::string_view bytes, Hour hour);
  const HourSummary& summary() const { return summary_; }
  // Not where an earlier version wrote them.
  bool has_durations() const { return has_durations_; }

  // Calls visit(TimedTotal) for each, in order; false when they are damaged.
  // REQUIRES: has_durations()
  template <class Visit>
  bool for_each(Visit&& visit) const {
    VarintReader reader(entries_);
    TimedTotal total;
    total.time_ns = bucket_start_ns(summary_.hour, kHour);
    for (uint64_t i = 0; i < summary_.profiles; ++i) {
      total.time_ns = sum_of(total.time_ns, reader.varint());
      total.value = reader.signed_varint();
      total.duration_ns = sum_of(total.duration_ns, static_cast<uint64_t>(reader.signed_varint()));
      visit(total);
    }
    return reader.ok() && reader.at_end();
  }

 private:
  static int64_t sum_of(int64_t a, uint64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + b);
  }

  HourSummary summary_;
  bool has_durations_ = false;
  std::string_view entries_;
};

}  // namespace vesta::rocks
