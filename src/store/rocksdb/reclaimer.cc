#include "store/rocksdb/reclaimer.h"

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/metadata.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <chrono>

#include "base/mutex.h"
#include "store/rocksdb/format/keys.h"
#include "store/rocksdb/series_posting.h"
#include "store/rocksdb/slice.h"

namespace vesta::rocks {
namespace {

using Clock = std::chrono::steady_clock;

// Compaction has one thread: what is done in one piece keeps others from it for some seconds.
constexpr uint64_t kPieceBytes = uint64_t{128} << 20;
constexpr auto kLongestRest = std::chrono::seconds(5);
constexpr uint64_t kRangeDeletionsInMemory = 8192;
constexpr size_t kHourKey = 8;  // tenant and hour

bool is_by_hour(Family family) {
  return family == Family::kRaw || family == Family::kTotals || family == Family::kHours;
}

Status flush(Database& db, bool wait) {
  std::vector<rocksdb::ColumnFamilyHandle*> all;
  for (size_t i = 0; i < kFamilyCount; ++i) all.push_back(db.family(static_cast<Family>(i)));
  rocksdb::FlushOptions options;
  options.wait = wait;
  options.allow_write_stall = true;  // it is what ends one
  const rocksdb::Status flushed = db.db().Flush(options, all);
  if (!flushed.ok()) return db.error_of(flushed, "write memory to files");
  return {};
}

}  // namespace

void flush_range_deletions(Store& store, uint64_t added) {
  if (store.range_deletions.fetch_add(added) + added < kRangeDeletionsInMemory) return;
  store.range_deletions = 0;
  if (const Status flushed = flush(*store.database, false); !flushed.ok())
    store.database->warn(flushed.error().message);
}

void Reclaimer::find_left_over() {
  std::vector<rocksdb::LiveFileMetaData> files;
  store_.database->db().GetLiveFilesMetaData(&files);
  for (const rocksdb::LiveFileMetaData& file : files) {
    if (file.num_deletions == 0) continue;
    for (size_t i = 1; i < kFamilyCount; ++i) {
      const auto family = static_cast<Family>(i);
      if (store_.database->family(family)->GetName() != file.column_family_name) continue;
      store_.garbage.add(family, file.smallestkey, file.largestkey + '\0',
                         family == Family::kRollup ? 5 : 4);
    }
  }
}

void Reclaimer::stop() {
  stopped_ = true;
  const MutexLock lock(rest_mutex_);
  rest_.notify_all();
}

Status Reclaimer::run(bool gently) {
  const MutexLock pass(pass_);
  std::vector<Garbage::Stretch> stretches = store_.garbage.take();
  if (stretches.empty() || stopped_) return {};
  running_ = stretches.size();
  Status done = reclaim(stretches, gently);
  running_ = 0;
  // What could not be done is tried again, from the start: it costs nothing where it was.
  if (!done.ok()) {
    for (const Garbage::Stretch& stretch : stretches)
      store_.garbage.add(stretch.family, stretch.from, stretch.to,
                         stretch.family == Family::kRollup ? 5 : 4);
  }
  if (stopped_) return {};
  return done;
}

Status Reclaimer::reclaim(std::vector<Garbage::Stretch>& stretches, bool gently) {
  for (Garbage::Stretch& stretch : stretches) VESTA_TRY(drop_files(stretch));
  // What says that something is gone must be in files before it can take effect on them; the log
  // goes as well.
  VESTA_TRY(flush(*store_.database, true));
  store_.range_deletions = 0;
  // A damaged file keeps its own stretch from being freed, for good; on a disk that is full or
  // failing, all of them are tried again later.
  Status first_problem;
  while (!stretches.empty()) {
    Status done = compact(stretches.back(), gently);
    if (!done.ok() && store_.database->is_failing()) return done;
    if (!done.ok() && first_problem.ok()) first_problem = std::move(done);
    stretches.pop_back();
    --running_;
  }
  return first_problem;
}

// Whole files without reading them, of hours that have nothing left.
Status Reclaimer::drop_files(Garbage::Stretch& stretch) {
  if (!is_by_hour(stretch.family) || stretch.from.size() < kHourKey ||
      stretch.to.size() < kHourKey || stretch.from.compare(0, 4, stretch.to, 0, 4) != 0) {
    return {};
  }
  Tenant* tenant = store_.tenants.by_id(static_cast<TenantId>(big_endian(stretch.from, 0, 4)));
  if (tenant == nullptr) return {};
  Hour from = static_cast<Hour>(big_endian(stretch.from, 4, 4));
  Hour to = static_cast<Hour>(big_endian(stretch.to, 4, 4));
  if (stretch.to.size() > kHourKey) ++to;

  // Nobody writes to these hours meanwhile.
  const MutexLock step(tenant->step);
  const auto gate = tenant->gate.enter_alone();
  tenant->index_mutex.assume_no_writer();  // the gate keeps them out
  const std::map<Hour, SeriesSet>& hours = tenant->index.hours();
  // As far as nothing is there: a file may hold what went earlier, too.
  const auto first = hours.lower_bound(from);
  from = first == hours.begin() ? 0 : std::prev(first)->first + 1;
  const auto after = hours.lower_bound(to);
  to = after == hours.end() ? UINT32_MAX : after->first;
  std::vector<std::pair<Key, Key>> gaps;
  Hour at = from;
  const auto add_gap = [&](Hour end) {
    if (at < end)
      gaps.emplace_back(ProfileKey::prefix(tenant->id, at), ProfileKey::prefix(tenant->id, end));
  };
  for (auto hour = first; hour != after; ++hour) {
    add_gap(hour->first);
    at = hour->first + 1;
  }
  add_gap(to);
  if (gaps.empty()) return {};

  std::vector<rocksdb::Slice> bounds;
  bounds.reserve(gaps.size() * 2);
  std::vector<rocksdb::RangePtr> ranges;
  rocksdb::WriteBatch batch;
  Database& db = *store_.database;
  for (const auto& [begin, end] : gaps) {
    const rocksdb::Slice& low = bounds.emplace_back(slice(begin.view()));
    const rocksdb::Slice& high = bounds.emplace_back(slice(end.view()));
    ranges.emplace_back(&low, &high);
    batch.DeleteRange(db.family(stretch.family), low, high);
  }
  const rocksdb::Status dropped = rocksdb::DeleteFilesInRanges(&db.db(), db.family(stretch.family),
                                                               ranges.data(), ranges.size(), false);
  if (!dropped.ok()) return db.error_of(dropped, "delete files");
  // A file that went may have said of what is in another, which stays, that it is deleted.
  VESTA_TRY(db.write(batch, false));
  stretch.from = ProfileKey::prefix(tenant->id, from).view();
  stretch.to = ProfileKey::prefix(tenant->id, to).view();
  return {};
}

Status Reclaimer::compact(const Garbage::Stretch& stretch, bool gently) {
  const uint64_t bytes =
      store_.database->approximate_bytes(stretch.family, stretch.from, stretch.to);
  const bool can_split = is_by_hour(stretch.family) && stretch.from.size() >= kHourKey &&
                         stretch.to.size() >= kHourKey &&
                         stretch.from.compare(0, 4, stretch.to, 0, 4) == 0;
  if (bytes <= kPieceBytes || !can_split)
    return compact_piece(stretch.family, stretch.from, stretch.to, gently);
  // Only where there is something: a stretch may reach to the end of time.
  const auto tenant = static_cast<TenantId>(big_endian(stretch.from, 0, 4));
  std::string from = stretch.from;
  uint64_t step = 24;
  while (from < stretch.to && !stopped_) {
    const uint64_t hour = big_endian(from, 4, 4);
    std::string to = stretch.to;
    const auto size_to = [&](uint64_t hours) {
      const uint64_t end = std::min<uint64_t>(hour + hours, UINT32_MAX);
      to = std::min<std::string>(
          stretch.to, std::string(ProfileKey::prefix(tenant, static_cast<Hour>(end)).view()));
      return store_.database->approximate_bytes(stretch.family, from, to);
    };
    while (step > 1 && size_to(step) > kPieceBytes) step /= 2;
    while (size_to(step * 2) <= kPieceBytes && to < stretch.to) step *= 2;
    size_to(step);
    VESTA_TRY(compact_piece(stretch.family, from, to, gently));
    from = to;
  }
  return {};
}

Status Reclaimer::compact_piece(Family family, std::string_view from, std::string_view to,
                                bool gently) {
  if (stopped_) return {};
  const Clock::time_point start = Clock::now();
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = false;
  options.allow_write_stall = false;
  options.canceled = &stopped_;
  const rocksdb::Slice begin = slice(from);
  const rocksdb::Slice end = slice(to);
  Database& db = *store_.database;
  const rocksdb::Status compacted = db.db().CompactRange(options, db.family(family), &begin, &end);
  if (stopped_) return {};
  if (!compacted.ok()) return db.error_of(compacted, "make room for what was deleted");
  if (!gently) return {};
  const auto worked = Clock::now() - start;
  MutexLock lock(rest_mutex_);
  rest_.wait_for(lock, std::min<Clock::duration>(worked, kLongestRest),
                 [&] { return stopped_.load(); });
  return {};
}

}  // namespace vesta::rocks
