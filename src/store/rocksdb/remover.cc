#include "store/rocksdb/remover.h"

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <map>
#include <set>

#include "store/rocksdb/rollup_planner.h"

namespace vesta::rocks {
namespace {

using Service = std::pair<PartitionNumber, TypeNumber>;

rocksdb::Slice slice(std::string_view text) {
  return {text.data(), text.size()};
}

// One deletion. The tenant's step and gate are held alone.
class Removal {
 public:
  Removal(Store& store, Tenant& tenant) : store_(store), tenant_(tenant), db_(*store.database) {}

  // Returns how many series lost something.
  Result<uint64_t> run(const SeriesSet& doomed, TimeRange range) {
    VESTA_TRY(find(doomed, range));
    if (touched_.isEmpty()) return uint64_t{0};
    const std::vector<Touch> marks = delete_rollups();
    drop_series();
    const RollupState::Ticket ticket = tenant_.rollups.begin(marks);
    for (const Touch& touch : ticket.late) {
      batch_.Put(
          db_.family(Family::kMeta),
          slice(
              meta_key(MetaKind::kDirty).u32(tenant_.id).u32(touch.hour).u32(touch.series).view()),
          slice(Key().u32(touch.partition).u32(touch.type).view()));
    }
    const Status written = db_.write(batch_, true);
    if (written.ok()) update_index();
    tenant_.rollups.end(ticket);
    VESTA_TRY(written);
    for (const auto& [from, to] : whole_hours_) {
      for (const Family family : {Family::kRaw, Family::kTotals}) {
        VESTA_TRY(db_.delete_files(family, ProfileKey::prefix(tenant_.id, from).view(),
                                   ProfileKey::prefix(tenant_.id, to).view()));
      }
    }
    return touched_.cardinality();
  }

 private:
  Status find(const SeriesSet& doomed, TimeRange range) {
    if (range.empty()) return {};
    const Hour last = last_hour(range);
    bool follows = false;  // every hour since the last one of whole_hours_ went as a whole
    for (auto at = hours().lower_bound(first_hour(range)); at != hours().end() && at->first <= last;
         ++at) {
      const auto& [hour, active] = *at;
      const SeriesSet here = active & doomed;
      const bool is_whole = bucket_start_ns(hour, kHourNs) >= range.start_ns &&
                            bucket_end_ns(hour, kHourNs) <= range.end_ns;
      if (here.isEmpty()) {
        follows = false;
      } else if (!is_whole) {
        follows = false;
        VESTA_TRY(delete_part(hour, here, range));
      } else {
        removed_[hour] = here;
        touched_ |= here;
        const bool all = here == active;
        if (!all) {
          delete_runs(hour, active, here);
        } else if (follows) {
          whole_hours_.back().second = hour + 1;
        } else {
          whole_hours_.emplace_back(hour, hour + 1);
        }
        follows = all;
      }
    }
    for (const auto& [from, to] : whole_hours_)
      delete_range(ProfileKey::prefix(tenant_.id, from), ProfileKey::prefix(tenant_.id, to));
    return {};
  }

  const std::map<Hour, SeriesSet>& hours() const { return tenant_.index.hours(); }

  void delete_range(const Key& from, const Key& to) {
    for (const Family family : {Family::kRaw, Family::kTotals, Family::kHours})
      batch_.DeleteRange(db_.family(family), slice(from.view()), slice(to.view()));
  }

  // A run is as long as no series that stays lies in between.
  void delete_runs(Hour hour, const SeriesSet& active, const SeriesSet& doomed) {
    bool is_open = false;
    SeriesNumber first = 0;
    SeriesNumber last = 0;
    const auto close = [&] {
      if (!is_open) return;
      delete_range(ProfileKey::prefix(tenant_.id, hour, first),
                   ProfileKey::prefix(tenant_.id, hour, last + 1));
      is_open = false;
    };
    for (const SeriesNumber number : active) {
      if (!doomed.contains(number)) {
        close();
        continue;
      }
      if (!is_open) first = number;
      is_open = true;
      last = number;
    }
    close();
  }

  Status delete_part(Hour hour, const SeriesSet& doomed, TimeRange range) {
    Cursor cursor(db_, Family::kTotals);
    for (const SeriesNumber number : doomed) {
      const Key prefix = ProfileKey::prefix(tenant_.id, hour, number);
      bool lost = false;
      bool kept = false;
      for (cursor.seek(prefix.view()); cursor.at_prefix(prefix.view()); cursor.next()) {
        if (cursor.key().size() != ProfileKey::kSize) continue;
        if (!range.contains(ProfileKey::decode(cursor.key()).time_ns)) {
          kept = true;
          continue;
        }
        lost = true;
        for (const Family family : {Family::kRaw, Family::kTotals})
          batch_.Delete(db_.family(family), slice(cursor.key()));
      }
      VESTA_TRY(cursor.status());
      if (!lost) continue;
      touched_.add(number);
      if (kept) {
        partly_[hour].add(number);
      } else {
        removed_[hour].add(number);
        batch_.Delete(db_.family(Family::kHours), slice(prefix.view()));
      }
    }
    return {};
  }

  Service service_of(SeriesNumber number) const {
    const SeriesIndex::Series& series = tenant_.index.series(number);
    return {series.partition, series.type};
  }

  void delete_rollup(Level level, RollupOwner owner, Bucket bucket) {
    batch_.Delete(db_.family(Family::kRollup),
                  slice(rollup_key(tenant_.id, level, owner, bucket).view()));
  }

  // Deletes roll-ups of what is gone as a whole, and returns what has to be done again: that of
  // services that keep something on the same day.
  std::vector<Touch> delete_rollups() {
    std::set<Day> days;
    for (const auto* lost : {&removed_, &partly_})
      for (const auto& [hour, set] : *lost) days.insert(day_of_hour(hour));
    std::vector<Touch> marks;
    for (const Day day : days) {
      std::set<Service> kept_in_day;
      std::map<Hour, std::set<Service>> kept;
      SeriesSet kept_series;
      const Hour first = first_hour_of(day);
      for (auto at = hours().lower_bound(first); at != hours().end() && at->first < first + 24;
           ++at) {
        const auto removed = removed_.find(at->first);
        const SeriesSet rest =
            removed == removed_.end() ? at->second : at->second - removed->second;
        kept_series |= rest;
        for (const SeriesNumber number : rest) {
          kept[at->first].insert(service_of(number));
          kept_in_day.insert(service_of(number));
        }
      }
      if (kept_in_day.empty()) {
        for (const Level level : kLevelsByDay) {
          const auto prefix = [&](Day group) {
            return Key().u32(tenant_.id).u8(static_cast<uint8_t>(level)).u32(group);
          };
          batch_.DeleteRange(db_.family(Family::kRollup), slice(prefix(day).view()),
                             slice(prefix(day + 1).view()));
        }
      }
      for (Hour hour = first; hour < first + 24; ++hour) {
        if (const auto part = partly_.find(hour); part != partly_.end()) {
          for (const SeriesNumber number : part->second) {
            const Service service = service_of(number);
            marks.push_back({hour, number, service.first, service.second});
          }
        }
        const auto removed = removed_.find(hour);
        if (removed == removed_.end()) continue;
        for (const SeriesNumber number : removed->second) {
          const Service service = service_of(number);
          const RollupOwner owner{service.first, service.second};
          if (!kept_series.contains(number)) {
            delete_rollup(Level::kSeriesDay, {number, 0}, day);
            delete_rollup(Level::kSeriesDayTotals, {number, 0}, day);
          }
          if (kept_in_day.contains(service)) {
            marks.push_back({hour, number, service.first, service.second});
          } else {
            delete_rollup(Level::kServiceDay, owner, day);
          }
          if (kept_in_day.empty()) continue;
          delete_rollup(Level::kSeriesHour, {number, 0}, hour);
          delete_rollup(Level::kSeriesHourTotals, {number, 0}, hour);
          if (kept[hour].contains(service)) continue;
          delete_rollup(Level::kServiceHour, owner, hour);
          const Bucket part = bucket_of(bucket_start_ns(hour, kHourNs), kTenMinutesNs);
          for (Bucket i = 0; i < 6; ++i) delete_rollup(Level::kServiceTenMinutes, owner, part + i);
        }
      }
    }
    return marks;
  }

  void drop_series() {
    SeriesSet kept;
    for (const auto& [hour, active] : hours()) {
      const auto removed = removed_.find(hour);
      kept |= removed == removed_.end() ? active : active - removed->second;
    }
    dropped_ = touched_ - kept;
    if (dropped_.isEmpty()) return;
    // Marks and roll-ups may still be about numbers that are gone, so no series gets them again.
    batch_.Put(db_.family(Family::kMeta),
               slice(meta_key(MetaKind::kNextNumbers).u32(tenant_.id).view()),
               slice(Key().u32(tenant_.next_series).u32(tenant_.next_partition).view()));
    std::set<PartitionNumber> partitions;
    for (const SeriesNumber number : dropped_) {
      batch_.Delete(db_.family(Family::kSeries), slice(Key().u32(tenant_.id).u32(number).view()));
      partitions.insert(tenant_.index.series(number).partition);
    }
    for (const SeriesNumber number : tenant_.index.all()) {
      if (partitions.empty()) break;
      if (!dropped_.contains(number)) partitions.erase(tenant_.index.series(number).partition);
    }
    for (const PartitionNumber number : partitions) {
      batch_.Delete(db_.family(Family::kMeta),
                    slice(meta_key(MetaKind::kPartition).u32(tenant_.id).u32(number).view()));
      batch_.DeleteRange(db_.family(Family::kDictionary),
                         slice(Key().u32(tenant_.id).u32(number).view()),
                         slice(Key().u32(tenant_.id).u32(number + 1).view()));
    }
    dropped_partitions_.assign(partitions.begin(), partitions.end());
  }

  void update_index() {
    const std::unique_lock lock(tenant_.index_mutex);
    for (const auto& [hour, set] : removed_)
      for (const SeriesNumber number : set) tenant_.index.remove_hour(hour, number);
    for (const SeriesNumber number : touched_) {
      if (dropped_.contains(number)) {
        tenant_.index.remove(number);
        continue;
      }
      SeriesIndex::Series& series = tenant_.index.series(number);
      series.is_exact = false;
      series.first_ns = INT64_MAX;
      series.last_ns = INT64_MIN;
    }
    for (const PartitionNumber number : dropped_partitions_) {
      tenant_.partitions.erase(tenant_.services.at(number));
      tenant_.services.erase(number);
      store_.dictionaries.forget(tenant_.id, number);
    }
  }

  Store& store_;
  Tenant& tenant_;
  Database& db_;
  rocksdb::WriteBatch batch_;
  SeriesSet touched_;
  std::map<Hour, SeriesSet> removed_;  // with nothing left in that hour
  std::map<Hour, SeriesSet> partly_;   // with something left
  std::vector<std::pair<Hour, Hour>> whole_hours_;
  SeriesSet dropped_;
  std::vector<PartitionNumber> dropped_partitions_;
};

// About what there is of a tenant: profiles by hour, and all else. What is deleted but still on the
// disk does not count, or a bound would be applied to it again and again.
void add_sizes(Database& db, Tenant& tenant, std::map<Hour, uint64_t>& by_hour, uint64_t& rest) {
  const std::shared_lock lock(tenant.index_mutex);
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
  const std::lock_guard step(tenant->step);
  const auto gate = tenant->gate.enter_alone();
  return Removal(store, *tenant).run(tenant->index.match(selector), range);
}

Status apply_retention(Store& store, Tenant& tenant, int64_t now_ns) {
  const std::lock_guard step(tenant.step);
  const auto gate = tenant.gate.enter_alone();
  RetentionPolicy policy;
  {
    const std::shared_lock lock(tenant.index_mutex);
    policy = tenant.retention;
  }
  if (policy.rules.empty()) return {};
  std::map<int64_t, SeriesSet> by_cutoff;
  for (const SeriesNumber number : tenant.index.all()) {
    const std::string& service = tenant.services.at(tenant.index.series(number).partition);
    const int64_t from = kept_from(policy, service, now_ns);
    if (from != INT64_MIN) by_cutoff[from].add(number);
  }
  for (const auto& [from, doomed] : by_cutoff)
    VESTA_TRY(Removal(store, tenant).run(doomed, {INT64_MIN, from}));
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
    const std::lock_guard step(tenant->step);
    const auto gate = tenant->gate.enter_alone();
    VESTA_TRY(Removal(store, *tenant)
                  .run(tenant->index.all(), {INT64_MIN, bucket_end_ns(*last, kHourNs)}));
  }
  return {};
}

}  // namespace vesta::rocks
