#include "store/rocksdb/remover.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/mutex.h"
#include "base/time.h"
#include "store/retention.h"
#include "store/rocksdb/removal.h"
#include "store/rocksdb/rollup/rollup_planner.h"

namespace vesta::rocks {
namespace {

// What a slice may cost: writers of all tenants wait for its write, some milliseconds.
constexpr uint64_t kSliceSeries = 1024;
constexpr uint64_t kSliceRuns = 64;       // of series, each of which is a deletion in every hour
constexpr uint64_t kSlicePartSeries = 8;  // where an hour goes in part, profile by profile

struct TimeSlice {
  SeriesSet series;
  TimeRange range;
};

// Walks over a deletion, day by day and through the series of each.
class Slicer {
 public:
  Slicer(const SeriesSet& doomed, TimeRange range) : doomed_(doomed), range_(range) {}

  std::optional<TimeSlice> next(const SeriesIndex& index) {
    if (range_.empty()) return std::nullopt;
    const Day last = day_of_hour(last_hour(range_));
    if (!day_) day_ = day_of_hour(first_hour(range_));
    for (auto at = index.days().lower_bound(*day_); at != index.days().end() && at->first <= last;
         ++at) {
      if (at->first != *day_) series_ = 0;
      day_ = at->first;
      TimeSlice slice;
      slice.range = {std::max(range_.start_ns, bucket_start_ns(*day_, kDay)),
                     std::min(range_.end_ns, bucket_end_ns(*day_, kDay))};
      take(at->second, slice);
      if (!slice.series.isEmpty()) return slice;
    }
    return std::nullopt;
  }

 private:
  void take(const SeriesSet& active, TimeSlice& slice) {
    const bool has_parts = slice.range.start_ns % kHour != 0 || slice.range.end_ns % kHour != 0;
    const uint64_t most = has_parts ? kSlicePartSeries : kSliceSeries;
    uint64_t count = 0;
    uint64_t runs = 0;
    bool follows = false;
    auto at = active.begin();
    for (at.equalorlarger(series_); at != active.end(); ++at) {
      const SeriesNumber number = *at;
      if (!doomed_.contains(number)) {
        follows = false;
        continue;
      }
      if (count == most || (!follows && runs == kSliceRuns)) return;
      if (!follows) ++runs;
      follows = true;
      slice.series.add(number);
      ++count;
      series_ = number + 1;
    }
  }

  const SeriesSet& doomed_;
  const TimeRange range_;
  std::optional<Day> day_;
  SeriesNumber series_ = 0;
};

// Returns the series that lost something.
Result<SeriesSet> remove_in_slices(Store& store, Tenant& tenant, const SeriesSet& doomed,
                                   TimeRange range) {
  SeriesSet touched;
  Slicer slicer(doomed, range);
  while (true) {
    const MutexLock step(tenant.step);
    const auto gate = tenant.gate.enter_alone();
    tenant.index_mutex.assume_no_writer();  // the gate keeps them out
    const std::optional<TimeSlice> slice = slicer.next(tenant.index);
    if (!slice) break;
    VESTA_ASSIGN(const SeriesSet lost, Removal(store, tenant).run(slice->series, slice->range));
    touched |= lost;
  }
  if (!touched.isEmpty()) VESTA_TRY(store.database->sync());
  return touched;
}

// About what there is of a tenant: profiles by hour, and all else. What is deleted but still on the
// disk does not count, or a bound would be applied to it again and again.
void add_sizes(Database& db, Tenant& tenant, std::map<Hour, uint64_t>& by_hour, uint64_t& rest) {
  const ReaderLock lock(tenant.index_mutex);
  const auto size = [&](Family family, const Key& from, const Key& to) {
    return db.approximate_bytes(family, from.view(), to.view());
  };
  for (const auto& [hour, set] : tenant.index.hours()) {
    for (const Family family : {Family::kRaw, Family::kTotals}) {
      by_hour[hour] += size(family, ProfileKey::prefix(tenant.id, hour),
                            ProfileKey::prefix(tenant.id, hour + 1));
    }
  }
  const auto level_key = [&](Level level) {
    return Key().u32(tenant.id).u8(static_cast<uint8_t>(level));
  };
  for (const auto& [day, set] : tenant.index.days()) {
    for (const Level level : kLevelsByDay) {
      rest += size(Family::kRollup, level_key(level).u32(day), level_key(level).u32(day + 1));
    }
  }
  for (const auto& [number, service] : tenant.services) {
    rest += size(Family::kDictionary, Key().u32(tenant.id).u32(number),
                 Key().u32(tenant.id).u32(number + 1));
  }
}

}  // namespace

Result<uint64_t> remove(Store& store, std::string_view tenant_name, const Selector& selector,
                        TimeRange range) {
  Tenant* tenant = store.tenants.find(tenant_name);
  if (tenant == nullptr) return uint64_t{0};
  SeriesSet doomed;
  {
    // What is being written now and was acknowledged before goes as well.
    const auto gate = tenant->gate.enter_alone();
    tenant->index_mutex.assume_no_writer();
    doomed = tenant->index.match(selector);
  }
  VESTA_ASSIGN(const SeriesSet lost, remove_in_slices(store, *tenant, doomed, range));
  return lost.cardinality();
}

Status apply_retention(Store& store, Tenant& tenant, int64_t now_ns) {
  std::map<int64_t, SeriesSet> by_cutoff;
  {
    const ReaderLock lock(tenant.index_mutex);
    if (tenant.retention.rules.empty()) return {};
    for (const SeriesNumber number : tenant.index.all()) {
      const std::string& service = tenant.services.at(tenant.index.series(number).partition);
      const int64_t from = kept_from(tenant.retention, service, now_ns);
      if (from != INT64_MIN) by_cutoff[from].add(number);
    }
  }
  for (const auto& [from, doomed] : by_cutoff)
    VESTA_TRY(remove_in_slices(store, tenant, doomed, {INT64_MIN, from}));
  return {};
}

Status shrink_to(Store& store, uint64_t max_bytes) {
  std::map<Hour, uint64_t> by_hour;
  uint64_t profiles = 0;
  uint64_t rest = 0;
  for (Tenant* tenant : store.tenants.all()) add_sizes(*store.database, *tenant, by_hour, rest);
  for (const auto& [hour, size] : by_hour) profiles += size;
  if (profiles == 0) return {};
  // Roll-ups and dictionaries go with their profiles, so an hour counts for its share of them.
  const double share = static_cast<double>(profiles + rest) / static_cast<double>(profiles);
  double bytes = static_cast<double>(profiles + rest);
  std::optional<Hour> last;
  for (const auto& [hour, size] : by_hour) {
    if (bytes <= static_cast<double>(max_bytes)) break;
    bytes -= static_cast<double>(size) * share;
    last = hour;
  }
  if (!last) return {};
  for (Tenant* tenant : store.tenants.all()) {
    SeriesSet all;
    {
      const ReaderLock lock(tenant->index_mutex);
      all = tenant->index.all();
    }
    VESTA_TRY(remove_in_slices(store, *tenant, all, {INT64_MIN, bucket_end_ns(*last, kHour)}));
  }
  return {};
}

}  // namespace vesta::rocks
