#include "store/rocksdb/rollup/rollup_builder.h"

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <thread>

#include "base/mutex.h"
#include "base/time.h"
#include "store/rocksdb/format/accumulator.h"
#include "store/rocksdb/format/stored_totals.h"
#include "store/rocksdb/query/query_scope.h"
#include "store/rocksdb/series_posting.h"
#include "store/rocksdb/slice.h"

namespace vesta::rocks {
namespace {

constexpr size_t kBatchBytes = size_t{1} << 20;

using Service = std::pair<PartitionNumber, TypeNumber>;

// Sums over one view of the store, written as they come. None of it counts before the watermark
// moves or a mark goes, so nothing has to be atomic here.
class RollupWriter {
 public:
  RollupWriter(Store& store, Tenant& tenant)
      : store_(store),
        tenant_(tenant),
        view_(*store.database),
        raw_(view_, Family::kRaw, false),
        totals_(view_, Family::kTotals, false),
        rollup_(view_, Family::kRollup, false),
        cost_(QueryBudget{}) {}

  // All series of a service and type in one hour, and the service itself.
  Status roll_hour(Hour hour, Service service, const std::vector<SeriesNumber>& series) {
    const bool cumulative = prepare(service);
    for (Accumulator& part : parts_) part.clear();
    for (const SeriesNumber number : series) {
      one_.clear();
      const Piece piece{Piece::Kind::kRaw,
                        Level::kSeriesHour,
                        hour,
                        number,
                        {bucket_start_ns(hour, kHour), bucket_end_ns(hour, kHour)}};
      VESTA_TRY(for_each_profile(raw_, tenant_.id, piece, cost_,
                                 [&](const ProfileKey& key, std::string_view value) -> Status {
                                   if (!record_.parse(value) || !one_.add(record_, key.time_ns))
                                     return damaged_record(*store_.database, key);
                                   if (cumulative) {
                                     const Bucket in_hour =
                                         bucket_of(key.time_ns, kTenMinutesNs) -
                                         bucket_of(bucket_start_ns(hour, kHour), kTenMinutesNs);
                                     parts_[std::min<Bucket>(in_hour, 5)].add(record_, key.time_ns);
                                   }
                                   return {};
                                 }));
      VESTA_TRY(put(Level::kSeriesHour, {number, 0}, hour, one_));
      VESTA_TRY(roll_hour_totals(piece));
    }
    if (!cumulative) return {};
    all_.clear();
    const Bucket first = bucket_of(bucket_start_ns(hour, kHour), kTenMinutesNs);
    for (size_t i = 0; i < parts_.size(); ++i) {
      parts_[i].header.covered.add_up_within_service();
      VESTA_TRY(put(Level::kServiceTenMinutes, {service.first, service.second},
                    first + static_cast<Bucket>(i), parts_[i]));
      all_.header.add(parts_[i].header);
      for (size_t s = 0; s < all_.weights.size(); ++s)
        all_.weights[s] = saturating_add(all_.weights[s], parts_[i].weights[s]);
    }
    return put(Level::kServiceHour, {service.first, service.second}, hour, all_);
  }

  // From the hours' roll-ups.
  Status roll_series_day(Day day, Service service, SeriesNumber series,
                         const std::vector<Hour>& hours) {
    prepare(service);
    VESTA_TRY(roll_day(Level::kSeriesHour, Level::kSeriesDay, {series, 0}, day, hours));
    return roll_day_totals(day, series, hours);
  }
  Status roll_service_day(Day day, Service service, const std::vector<Hour>& hours) {
    if (!prepare(service)) return {};
    return roll_day(Level::kServiceHour, Level::kServiceDay, {service.first, service.second}, day,
                    hours);
  }

  // Of an hour that the series has no profiles in any more.
  Status remove_series_hour(SeriesNumber series, Hour hour) {
    VESTA_TRY(remove(Level::kSeriesHour, {series, 0}, hour));
    return remove(Level::kSeriesHourTotals, {series, 0}, hour);
  }

  Status finish() { return flush_if(1); }

 private:
  Status remove(Level level, RollupOwner owner, Bucket bucket) {
    batch_.Delete(store_.database->family(Family::kRollup),
                  slice(rollup_key(tenant_.id, level, owner, bucket).view()));
    return flush_if(kBatchBytes);
  }

  Status roll_hour_totals(const Piece& piece) {
    timed_.clear();
    VESTA_TRY(for_each_profile(totals_, tenant_.id, piece, cost_,
                               [&](const ProfileKey& key, std::string_view value) -> Status {
                                 StoredTotal total;
                                 if (!total.parse(value))
                                   return damaged_record(*store_.database, key);
                                 timed_.push_back({key.time_ns, total.duration_ns, total.value});
                                 return {};
                               }));
    if (timed_.empty()) return remove(Level::kSeriesHourTotals, {piece.series, 0}, piece.bucket);
    return put(Level::kSeriesHourTotals, {piece.series, 0}, piece.bucket,
               encode_hour_totals(piece.bucket, timed_));
  }
  Status roll_day_totals(Day day, SeriesNumber series, const std::vector<Hour>& hours) {
    summaries_.clear();
    HourTotals totals;
    for (const Hour hour : hours) {
      VESTA_ASSIGN(const bool found, find(Level::kSeriesHourTotals, {series, 0}, hour));
      if (!found) continue;  // as below
      if (!totals.parse(rollup_.value(), hour))
        return damaged_record(*store_.database, {tenant_.id, hour, series, 0, 0});
      summaries_.push_back(totals.summary());
    }
    if (summaries_.empty()) return remove(Level::kSeriesDayTotals, {series, 0}, day);
    return put(Level::kSeriesDayTotals, {series, 0}, day, encode_day_totals(day, summaries_));
  }

  Status roll_day(Level from, Level to, RollupOwner owner, Day day,
                  const std::vector<Hour>& hours) {
    one_.clear();
    for (const Hour hour : hours) {
      VESTA_ASSIGN(const bool found, find(from, owner, hour));
      // One that is not there belongs to an hour with a mark, which will be done again.
      if (!found) continue;
      if (!record_.parse(rollup_.value()) || !one_.add(record_, 0))
        return damaged_record(*store_.database, {tenant_.id, hour, owner.first, 0, 0});
    }
    return put(to, owner, day, one_);
  }

  Result<bool> find(Level level, RollupOwner owner, Bucket bucket) {
    const Key key = rollup_key(tenant_.id, level, owner, bucket);
    rollup_.seek(key.view());
    VESTA_TRY(rollup_.status());
    return rollup_.valid() && rollup_.key() == key.view();
  }

  // Room for all stacks there are; says whether sums over series make sense.
  bool prepare(Service service) {
    if (!prepared_ || *prepared_ != service) {
      prepared_ = service;
      const size_t stacks = store_.dictionaries.partition(tenant_.id, service.first)->stack_count();
      for (Accumulator* sum : {&one_, &all_}) sum->weights.assign(stacks, 0);
      for (Accumulator& part : parts_) part.weights.assign(stacks, 0);
      const ReaderLock lock(tenant_.index_mutex);
      cumulative_ = tenant_.types[service.second].temporality() == Temporality::kCumulative;
    }
    return cumulative_;
  }

  Status put(Level level, RollupOwner owner, Bucket bucket, const Accumulator& sum) {
    if (sum.header.profiles == 0) return remove(level, owner, bucket);
    return put(level, owner, bucket, encode_rollup(sum.header.rollup(), sum.weights));
  }
  Status put(Level level, RollupOwner owner, Bucket bucket, const std::string& value) {
    batch_.Put(store_.database->family(Family::kRollup),
               slice(rollup_key(tenant_.id, level, owner, bucket).view()), value);
    return flush_if(kBatchBytes);
  }

  Status flush_if(size_t bytes) {
    if (batch_.Count() == 0 || batch_.GetDataSize() < bytes) return {};
    VESTA_TRY(store_.database->write(batch_, false));
    batch_.Clear();
    return {};
  }

  Store& store_;
  Tenant& tenant_;
  ReadView view_;
  Cursor raw_;
  Cursor totals_;
  Cursor rollup_;
  QueryCost cost_;
  RecordView record_;
  std::optional<Service> prepared_;
  bool cumulative_ = false;
  Accumulator one_;
  Accumulator all_;
  std::array<Accumulator, 6> parts_;
  std::vector<TimedTotal> timed_;
  std::vector<HourSummary> summaries_;
  rocksdb::WriteBatch batch_;
};

std::map<Service, std::vector<SeriesNumber>> by_service(const SeriesIndex& index,
                                                        const SeriesSet& set) {
  std::map<Service, std::vector<SeriesNumber>> out;
  for (const SeriesNumber number : set) {
    const SeriesIndex::Series& series = index.series(number);
    out[{series.partition, series.type}].push_back(number);
  }
  return out;
}

// What is there in a day, as the index has it now.
struct DayContent {
  std::map<Hour, SeriesSet> hours;
  std::map<Service, std::vector<SeriesNumber>> services;

  std::vector<Hour> hours_of(SeriesNumber series) const {
    std::vector<Hour> out;
    for (const auto& [hour, set] : hours)
      if (set.contains(series)) out.push_back(hour);
    return out;
  }
  std::vector<Hour> hours_of(const std::vector<SeriesNumber>& series) const {
    std::vector<Hour> out;
    for (const auto& hour : hours) {
      if (std::ranges::any_of(series, [&](SeriesNumber one) { return hour.second.contains(one); }))
        out.push_back(hour.first);
    }
    return out;
  }
};

DayContent content_of(Tenant& tenant, Day day) {
  const ReaderLock lock(tenant.index_mutex);
  DayContent out;
  const Hour first = first_hour_of(day);
  const auto& hours = tenant.index.hours();
  for (auto at = hours.lower_bound(first); at != hours.end() && at->first < first + 24; ++at)
    out.hours.insert(*at);
  const auto found = tenant.index.days().find(day);
  if (found != tenant.index.days().end()) out.services = by_service(tenant.index, found->second);
  return out;
}

Status save_watermark(Store& store, Tenant& tenant, Hour hours_done, Day days_done) {
  rocksdb::WriteBatch batch;
  batch.Put(store.database->family(Family::kMeta),
            slice(meta_key(MetaKind::kWatermark).u32(tenant.id).view()),
            slice(Key().u32(hours_done).u32(days_done).view()));
  const MutexLock lock(tenant.rollups.mutex());
  VESTA_TRY(store.database->write(batch, false));
  tenant.rollups.set_done(hours_done, days_done);
  return {};
}

}  // namespace

Hour RollupBuilder::closed_hour() const {
  const int64_t delay_ns = std::chrono::nanoseconds(store_.options.rollup_delay).count();
  return hour_of(saturating_subtract(store_.now_ns(), delay_ns));
}

Status RollupBuilder::run(const std::function<bool()>& stop) {
  const MutexLock lock(mutex_);
  for (Tenant* tenant : store_.tenants.all()) {
    if (stop()) return {};
    VESTA_TRY(run_tenant(*tenant, stop));
  }
  return {};
}

Status RollupBuilder::run_tenant(Tenant& tenant, const std::function<bool()>& stop) {
  VESTA_TRY(roll_hours(tenant, stop));
  VESTA_TRY(roll_days(tenant, stop));
  return roll_marked(tenant, stop);
}

Status RollupBuilder::roll_hours(Tenant& tenant, const std::function<bool()>& stop) {
  const Hour closed = closed_hour();
  Hour done = 0;
  Day days_done = 0;
  {
    const ReaderLock lock(tenant.index_mutex);
    if (tenant.index.hours().empty()) return {};
  }
  while (true) {
    const MutexLock lock(tenant.rollups.mutex());
    done = tenant.rollups.hours_done();
    days_done = tenant.rollups.days_done();
    if (done >= closed) return {};
    if (tenant.rollups.close(closed)) break;
    // A write that began before is about to end.
    if (stop()) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::vector<Hour> hours;
  {
    const ReaderLock lock(tenant.index_mutex);
    for (auto at = tenant.index.hours().lower_bound(done);
         at != tenant.index.hours().end() && at->first < closed; ++at) {
      hours.push_back(at->first);
    }
  }
  for (const Hour hour : hours) {
    if (stop()) return {};
    const MutexLock step(tenant.step);
    std::map<Service, std::vector<SeriesNumber>> services;
    {
      const ReaderLock lock(tenant.index_mutex);
      const auto found = tenant.index.hours().find(hour);
      if (found == tenant.index.hours().end()) continue;
      services = by_service(tenant.index, found->second);
    }
    RollupWriter writer(store_, tenant);
    for (const auto& [service, series] : services)
      VESTA_TRY(writer.roll_hour(hour, service, series));
    VESTA_TRY(writer.finish());
    VESTA_TRY(save_watermark(store_, tenant, hour + 1, days_done));
  }
  return save_watermark(store_, tenant, closed, days_done);
}

Status RollupBuilder::roll_days(Tenant& tenant, const std::function<bool()>& stop) {
  Hour hours_done = 0;
  Day days_done = 0;
  {
    const MutexLock lock(tenant.rollups.mutex());
    hours_done = tenant.rollups.hours_done();
    days_done = tenant.rollups.days_done();
  }
  const Day closed = day_of_hour(hours_done);
  if (days_done >= closed) return {};
  std::vector<Day> days;
  {
    const ReaderLock lock(tenant.index_mutex);
    for (auto at = tenant.index.days().lower_bound(days_done);
         at != tenant.index.days().end() && at->first < closed; ++at) {
      days.push_back(at->first);
    }
  }
  for (const Day day : days) {
    if (stop()) return {};
    const MutexLock step(tenant.step);
    const DayContent content = content_of(tenant, day);
    RollupWriter writer(store_, tenant);
    for (const auto& [service, series] : content.services) {
      for (const SeriesNumber number : series)
        VESTA_TRY(writer.roll_series_day(day, service, number, content.hours_of(number)));
      VESTA_TRY(writer.roll_service_day(day, service, content.hours_of(series)));
    }
    VESTA_TRY(writer.finish());
    VESTA_TRY(save_watermark(store_, tenant, hours_done, day + 1));
  }
  return save_watermark(store_, tenant, hours_done, closed);
}

Status RollupBuilder::roll_marked(Tenant& tenant, const std::function<bool()>& stop) {
  // Under steady late writes there is always another mark; the next run has those.
  size_t rounds = 0;
  {
    const MutexLock lock(tenant.rollups.mutex());
    rounds = tenant.rollups.mark_count();
  }
  for (size_t round = 0; round < rounds; ++round) {
    if (stop()) return {};
    const MutexLock step(tenant.step);
    std::vector<RollupState::Mark> marks;
    Day days_done = 0;
    std::unique_ptr<RollupWriter> writer;
    {
      const MutexLock lock(tenant.rollups.mutex());
      marks = tenant.rollups.marks_of_first_day();
      days_done = tenant.rollups.days_done();
      if (marks.empty()) return {};
      // Its view has all that the marks are about.
      writer = std::make_unique<RollupWriter>(store_, tenant);
    }
    const Day day = day_of_hour(marks[0].touch.hour);
    const DayContent content = content_of(tenant, day);
    std::map<Hour, std::set<Service>> hours;
    std::set<Service> services;
    for (const RollupState::Mark& mark : marks) {
      const Touch& touch = mark.touch;
      const Service service{touch.partition, touch.type};
      hours[touch.hour].insert(service);
      services.insert(service);
      const auto in_hour = content.hours.find(touch.hour);
      if (in_hour == content.hours.end() || !in_hour->second.contains(touch.series))
        VESTA_TRY(writer->remove_series_hour(touch.series, touch.hour));
    }
    for (const auto& [hour, of_hour] : hours) {
      const auto in_hour = content.hours.find(hour);
      for (const Service& service : of_hour) {
        std::vector<SeriesNumber> series;
        const auto known = content.services.find(service);
        if (in_hour != content.hours.end() && known != content.services.end()) {
          for (const SeriesNumber one : known->second)
            if (in_hour->second.contains(one)) series.push_back(one);
        }
        VESTA_TRY(writer->roll_hour(hour, service, series));
      }
    }
    VESTA_TRY(writer->finish());
    writer.reset();
    if (day < days_done) {
      writer = std::make_unique<RollupWriter>(store_, tenant);
      std::set<SeriesNumber> done;
      for (const RollupState::Mark& mark : marks) {
        const Touch& touch = mark.touch;
        if (!done.insert(touch.series).second) continue;
        VESTA_TRY(writer->roll_series_day(day, {touch.partition, touch.type}, touch.series,
                                          content.hours_of(touch.series)));
      }
      for (const Service& service : services) {
        const auto known = content.services.find(service);
        VESTA_TRY(writer->roll_service_day(day, service,
                                           known == content.services.end()
                                               ? std::vector<Hour>{}
                                               : content.hours_of(known->second)));
      }
      VESTA_TRY(writer->finish());
      writer.reset();
    }
    rocksdb::WriteBatch batch;
    std::vector<Touch> cleared;
    const MutexLock lock(tenant.rollups.mutex());
    for (const RollupState::Mark& mark : marks) {
      if (!tenant.rollups.is_same(mark)) continue;
      const Touch& touch = mark.touch;
      batch.Delete(
          store_.database->family(Family::kMeta),
          slice(
              meta_key(MetaKind::kDirty).u32(tenant.id).u32(touch.hour).u32(touch.series).view()));
      cleared.push_back(touch);
    }
    VESTA_TRY(store_.database->write(batch, false));
    for (const Touch& touch : cleared) tenant.rollups.clear(touch);
  }
  return {};
}

uint64_t RollupBuilder::pending() {
  uint64_t count = 0;
  const Hour closed = closed_hour();
  for (Tenant* tenant : store_.tenants.all()) {
    Hour done = 0;
    {
      const MutexLock lock(tenant->rollups.mutex());
      count += tenant->rollups.mark_count();
      done = tenant->rollups.hours_done();
    }
    const ReaderLock lock(tenant->index_mutex);
    for (auto at = tenant->index.hours().lower_bound(done);
         at != tenant->index.hours().end() && at->first < closed; ++at) {
      ++count;
    }
  }
  return count;
}

}  // namespace vesta::rocks
