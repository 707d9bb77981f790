// Which stored sums a range of time is put together from: the coarsest buckets that lie in it as a
// whole and say all that the profiles say; profiles themselves for the rest. Pure functions; the
// caller holds the lock of the index.
#pragma once

#include <cstdint>
#include <vector>

#include "store/engine.h"
#include "store/rocksdb/format/keys.h"
#include "store/rocksdb/rollup/rollup_state.h"
#include "store/rocksdb/series_index.h"

namespace vesta::rocks {

// One thing to read.
struct Piece {
  enum class Kind : uint8_t { kRaw, kRollup } kind = Kind::kRaw;
  Level level = Level::kSeriesHour;  // of a roll-up
  Bucket bucket = 0;                 // of a roll-up; the hour of profiles
  SeriesNumber series = 0;           // of a series
  TimeRange range;                   // what it is to cover
};

struct PlanInput {
  const SeriesIndex& index;
  const RollupView& rollups;
  TimeRange range;
  bool use_rollups = true;
  bool totals = false;  // of profiles, not stacks: their roll-ups can be read in part
};

// Of each series of the set, in order of time; series of one hour lie side by side.
std::vector<std::vector<Piece>> plan_series(const PlanInput& input,
                                            const std::vector<SeriesNumber>& series);

// Of all series of a service and type together.
// REQUIRES: `series` is index.of_service(partition, type)
std::vector<Piece> plan_service(const PlanInput& input, PartitionNumber partition, TypeNumber type,
                                const SeriesSet& series);

inline TimeRange bucket_range(Bucket bucket, int64_t width) {
  return {bucket_start_ns(bucket, width), bucket_end_ns(bucket, width)};
}

// First and last hour of a range. REQUIRES: !range.empty()
inline Hour first_hour(TimeRange range) {
  return hour_of(range.start_ns);
}
inline Hour last_hour(TimeRange range) {
  return hour_of(range.end_ns - 1);
}

}  // namespace vesta::rocks
