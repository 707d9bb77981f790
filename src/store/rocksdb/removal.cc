#include "store/rocksdb/removal.h"

#include <algorithm>
#include <set>

#include "base/mutex.h"
#include "base/time.h"
#include "store/rocksdb/reclaimer.h"
#include "store/rocksdb/rollup/rollup_planner.h"
#include "store/rocksdb/slice.h"

namespace vesta::rocks {
namespace {

// Runs of what goes, each as long as nothing that stays lies in between.
template <class Visit>
void for_each_run(const SeriesSet& active, const SeriesSet& doomed, Visit&& visit) {
  auto next = active.begin();
  for (auto at = doomed.begin(); at != doomed.end();) {
    const SeriesNumber first = *at;
    SeriesNumber last = first;
    next.equalorlarger(first);
    while (at != doomed.end() && next != active.end() && *next == *at) {
      last = *at;
      ++at;
      ++next;
    }
    visit(first, last);
  }
}

}  // namespace

Result<SeriesSet> Removal::run(const SeriesSet& doomed, TimeRange range) {
  VESTA_TRY(find(doomed, range));
  if (touched_.isEmpty()) return SeriesSet();
  const std::vector<Touch> marks = delete_rollups();
  drop_series();
  const RollupState::Ticket ticket = tenant_.rollups.begin(marks);
  for (const Touch& touch : ticket.late) {
    batch_.Put(
        db_.family(Family::kMeta),
        slice(meta_key(MetaKind::kDirty).u32(tenant_.id).u32(touch.hour).u32(touch.series).view()),
        slice(Key().u32(touch.partition).u32(touch.type).view()));
  }
  const Status written = db_.write(batch_, false);
  if (written.ok()) update_index();
  tenant_.rollups.end(ticket);
  VESTA_TRY(written);
  note_garbage();
  flush_range_deletions(store_, range_deletions_);
  return touched_;
}

Status Removal::find(const SeriesSet& doomed, TimeRange range) {
  if (range.empty()) return {};
  const Hour last = last_hour(range);
  bool follows = false;  // every hour since the last one of whole_hours_ went as a whole
  for (auto at = hours().lower_bound(first_hour(range)); at != hours().end() && at->first <= last;
       ++at) {
    const auto& [hour, active] = *at;
    const SeriesSet here = active & doomed;
    const bool is_whole = bucket_start_ns(hour, kHour) >= range.start_ns &&
                          bucket_end_ns(hour, kHour) <= range.end_ns;
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
        for_each_run(active, here, [&, hour = hour](SeriesNumber from, SeriesNumber to) {
          delete_range(ProfileKey::prefix(tenant_.id, hour, from),
                       ProfileKey::prefix(tenant_.id, hour, to + 1));
        });
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

void Removal::put_range(Family family, const rocksdb::Slice& from, const rocksdb::Slice& to) {
  batch_.DeleteRange(db_.family(family), from, to);
  ++range_deletions_;
}

void Removal::delete_range(const Key& from, const Key& to) {
  for (const Family family : {Family::kRaw, Family::kTotals, Family::kHours})
    put_range(family, slice(from.view()), slice(to.view()));
}

Status Removal::delete_part(Hour hour, const SeriesSet& doomed, TimeRange range) {
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

Removal::Service Removal::service_of(SeriesNumber number) const {
  const SeriesIndex::Series& series = index().series(number);
  return {series.partition, series.type};
}

SeriesSet Removal::rest_of(Hour hour, const SeriesSet& active) const {
  const auto removed = removed_.find(hour);
  return removed == removed_.end() ? active : active - removed->second;
}

void Removal::delete_rollup(Level level, RollupOwner owner, Bucket bucket) {
  batch_.Delete(db_.family(Family::kRollup),
                slice(rollup_key(tenant_.id, level, owner, bucket).view()));
}

// Deletes roll-ups of what is gone as a whole, and returns what has to be done again: that of
// services that keep something on the same day.
std::vector<Touch> Removal::delete_rollups() {
  std::set<Day> days;
  for (const auto* lost : {&removed_, &partly_})
    for (const auto& [hour, set] : *lost) days.insert(day_of_hour(hour));
  std::vector<Touch> marks;
  for (const Day day : days) delete_rollups_of_day(day, marks);
  return marks;
}

void Removal::delete_rollups_of_day(Day day, std::vector<Touch>& marks) {
  const Hour first = first_hour_of(day);
  std::map<Hour, SeriesSet> kept;  // by hour, what stays
  SeriesSet kept_series;
  for (auto at = hours().lower_bound(first); at != hours().end() && at->first < first + 24; ++at) {
    const SeriesSet& rest = kept[at->first] = rest_of(at->first, at->second);
    kept_series |= rest;
  }
  if (kept_series.isEmpty()) {
    for (const Level level : kLevelsByDay) {
      const auto prefix = [&](Day group) {
        return Key().u32(tenant_.id).u8(static_cast<uint8_t>(level)).u32(group);
      };
      put_range(Family::kRollup, slice(prefix(day).view()), slice(prefix(day + 1).view()));
    }
  }
  std::map<Service, std::set<Hour>> lost_services;
  SeriesSet gone;  // of the whole day
  for (Hour hour = first; hour < first + 24; ++hour) {
    if (const auto part = partly_.find(hour); part != partly_.end()) {
      for (const SeriesNumber number : part->second) {
        const Service service = service_of(number);
        marks.push_back({hour, number, service.first, service.second});
      }
    }
    const auto removed = removed_.find(hour);
    if (removed == removed_.end()) continue;
    gone |= removed->second;
    for (const SeriesNumber number : removed->second)
      lost_services[service_of(number)].insert(hour);
  }
  gone -= kept_series;
  std::set<Service> kept_services;
  for (const auto& [service, lost_hours] : lost_services) {
    const RollupOwner owner{service.first, service.second};
    const SeriesSet& all = index().of_service(service.first, service.second);
    if (all.intersect(kept_series)) {
      kept_services.insert(service);
    } else {
      delete_rollup(Level::kServiceDay, owner, day);
    }
    if (kept_series.isEmpty()) continue;
    for (const Hour hour : lost_hours) {
      if (all.intersect(kept[hour])) continue;
      delete_rollup(Level::kServiceHour, owner, hour);
      const Bucket part = bucket_of(bucket_start_ns(hour, kHour), kTenMinutesNs);
      for (Bucket i = 0; i < 6; ++i) delete_rollup(Level::kServiceTenMinutes, owner, part + i);
    }
  }
  for (const SeriesNumber number : gone) {
    delete_rollup(Level::kSeriesDay, {number, 0}, day);
    delete_rollup(Level::kSeriesDayTotals, {number, 0}, day);
  }
  if (!kept_series.isEmpty()) {
    for_each_run(kept_series | gone, gone, [&](SeriesNumber from, SeriesNumber to) {
      for (const Level level : {Level::kSeriesHour, Level::kSeriesHourTotals}) {
        const auto key = [&](SeriesNumber number) {
          return Key().u32(tenant_.id).u8(static_cast<uint8_t>(level)).u32(day).u32(number);
        };
        put_range(Family::kRollup, slice(key(from).view()), slice(key(to + 1).view()));
      }
    });
  }
  for (Hour hour = first; hour < first + 24; ++hour) {
    const auto removed = removed_.find(hour);
    if (removed == removed_.end()) continue;
    std::set<Service> marked;
    for (const SeriesNumber number : removed->second) {
      const Service service = service_of(number);
      const bool is_gone = gone.contains(number);
      // Of a series that is gone nothing is done again but the sums of its service, for which one
      // mark in the hour will do.
      if (kept_services.contains(service) && (marked.insert(service).second || !is_gone))
        marks.push_back({hour, number, service.first, service.second});
      if (is_gone) continue;
      delete_rollup(Level::kSeriesHour, {number, 0}, hour);
      delete_rollup(Level::kSeriesHourTotals, {number, 0}, hour);
    }
  }
}

void Removal::drop_series() {
  tenant_.index_mutex.assume_no_writer();  // see index()
  for (const SeriesNumber number : touched_) {
    const SeriesIndex::Series& series = index().series(number);
    bool stays = false;
    for (auto at = hours().lower_bound(series.first_hour);
         !stays && at != hours().end() && at->first <= series.last_hour; ++at) {
      const auto removed = removed_.find(at->first);
      stays = at->second.contains(number) &&
              (removed == removed_.end() || !removed->second.contains(number));
    }
    if (!stays) dropped_.add(number);
  }
  if (dropped_.isEmpty()) return;
  // Marks and roll-ups may still be about numbers that are gone, so no series gets them again.
  batch_.Put(db_.family(Family::kMeta),
             slice(meta_key(MetaKind::kNextNumbers).u32(tenant_.id).view()),
             slice(Key().u32(tenant_.next_series).u32(tenant_.next_partition).view()));
  std::set<PartitionNumber> partitions;
  for (const SeriesNumber number : dropped_) {
    batch_.Delete(db_.family(Family::kSeries), slice(Key().u32(tenant_.id).u32(number).view()));
    partitions.insert(index().series(number).partition);
  }
  for (const PartitionNumber number : partitions) {
    if (!index().of_partition(number).isSubset(dropped_)) continue;
    batch_.Delete(db_.family(Family::kMeta),
                  slice(meta_key(MetaKind::kPartition).u32(tenant_.id).u32(number).view()));
    if (const auto lengths = tenant_.lengths.find(number); lengths != tenant_.lengths.end()) {
      lengths->second.for_each([&](uint8_t length) {
        batch_.Delete(
            db_.family(Family::kMeta),
            slice(meta_key(MetaKind::kLength).u32(tenant_.id).u32(number).u8(length).view()));
      });
    }
    put_range(Family::kDictionary, slice(Key().u32(tenant_.id).u32(number).view()),
              slice(Key().u32(tenant_.id).u32(number + 1).view()));
    dropped_partitions_.push_back(number);
  }
}

void Removal::update_index() {
  const WriterLock lock(tenant_.index_mutex);
  tenant_.index.remove_hours(removed_);
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
    tenant_.lengths.erase(number);
    store_.dictionaries.forget(tenant_.id, number);
  }
}

void Removal::note_garbage() {
  Hour first = UINT32_MAX;
  Hour last = 0;
  for (const auto* lost : {&removed_, &partly_}) {
    if (lost->empty()) continue;
    first = std::min(first, lost->begin()->first);
    last = std::max(last, lost->rbegin()->first);
  }
  for (const Family family : {Family::kRaw, Family::kTotals, Family::kHours}) {
    store_.garbage.add(family, ProfileKey::prefix(tenant_.id, first).view(),
                       ProfileKey::prefix(tenant_.id, last + 1).view());
  }
  for (uint8_t level = 1; level <= static_cast<uint8_t>(Level::kSeriesDayTotals); ++level) {
    const int64_t width = width_ns(static_cast<Level>(level));
    const Day day = day_of_hour(first);
    const Bucket group =
        group_of(static_cast<Level>(level), bucket_of(bucket_start_ns(day, kDay), width));
    const Key prefix = Key().u32(tenant_.id).u8(level);
    store_.garbage.add(Family::kRollup, Key(prefix).u32(group).view(),
                       Key(prefix).u32(group + 1).view(), 5);
  }
  if (dropped_.isEmpty()) return;
  store_.garbage.add(Family::kSeries, Key().u32(tenant_.id).view(),
                     Key().u32(tenant_.id + 1).view());
  for (const PartitionNumber number : dropped_partitions_) {
    store_.garbage.add(Family::kDictionary, Key().u32(tenant_.id).u32(number).view(),
                       Key().u32(tenant_.id).u32(number + 1).view());
  }
}

}  // namespace vesta::rocks
