// The totals of a series' profiles as roll-ups have them: an hour with the time and total of each
// profile, so that it can be read in part; a day with the sum of each hour. README.md has the
// layouts. Bytes that are read are trusted in nothing. Pure functions over plain data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/rocksdb/keys.h"
#include "store/rocksdb/varint.h"

namespace vesta::rocks {

struct TimedTotal {
  int64_t time_ns = 0;
  int64_t value = 0;
};
struct TotalsSum {
  uint64_t profiles = 0;
  int64_t sum = 0;
};
struct HourSum {
  Hour hour = 0;
  TotalsSum sum;
};

// REQUIRES: in order of time, all in that hour, at least one
std::string encode_hour_totals(Hour hour, const std::vector<TimedTotal>& totals);
// REQUIRES: in order, all of that day
std::string encode_day_totals(Day day, const std::vector<HourSum>& hours);

// False when the bytes are damaged; `hours` is replaced.
bool decode_day_totals(std::string_view bytes, Day day, std::vector<HourSum>& hours);

class HourTotals {
 public:
  // False when the bytes are damaged.
  bool parse(std::string_view bytes, Hour hour);
  const TotalsSum& sum() const { return sum_; }

  // Calls visit(time_ns, value) for each, in order; false when they are damaged.
  template <class Visit>
  bool for_each(Visit&& visit) const {
    VarintReader reader(entries_);
    auto time = static_cast<uint64_t>(start_ns_);
    for (uint64_t i = 0; i < sum_.profiles; ++i) {
      time += reader.varint();
      visit(static_cast<int64_t>(time), reader.signed_varint());
    }
    return reader.ok() && reader.at_end();
  }

 private:
  TotalsSum sum_;
  int64_t start_ns_ = 0;
  std::string_view entries_;
};

}  // namespace vesta::rocks
