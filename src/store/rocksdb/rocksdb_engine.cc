#include "store/rocksdb/rocksdb_engine.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <thread>

#include "base/mutex.h"
#include "base/time.h"
#include "store/rocksdb/backup.h"
#include "store/rocksdb/query/reader.h"
#include "store/rocksdb/reclaimer.h"
#include "store/rocksdb/remover.h"
#include "store/rocksdb/rollup/rollup_builder.h"
#include "store/rocksdb/rollup/rollup_planner.h"
#include "store/rocksdb/slice.h"
#include "store/rocksdb/store.h"
#include "store/rocksdb/writer.h"

namespace vesta {
namespace {

using rocks::Family;
using rocks::SeriesSet;
using rocks::Tenant;

class RocksdbEngine final : public Engine {
 public:
  RocksdbEngine(const RocksdbOptions& options, std::unique_ptr<rocks::Database> database)
      : store_(options, std::move(database)), rollups_(store_), reclaimer_(store_) {}

  ~RocksdbEngine() override {
    reclaimer_.stop();
    for (std::jthread* thread : {&worker_, &syncer_, &reclaiming_}) {
      thread->request_stop();
      wake_.notify_all();
      if (thread->joinable()) thread->join();
    }
  }

  Status start() {
    VESTA_TRY(rocks::load(store_));
    const RocksdbOptions& options = store_.options;
    reclaimer_.find_left_over();
    if (options.background) {
      // Beside the other work: neither waits for the other.
      reclaiming_ = std::jthread([this](const std::stop_token& stop) {
        every(stop, store_.options.reclaim_interval, [&] { reclaim(); });
      });
      worker_ = std::jthread([this](const std::stop_token& stop) {
        every(stop, store_.options.background_interval, [&] { work(stop); });
      });
    }
    if (options.sync == RocksdbOptions::Sync::kInterval) {
      syncer_ = std::jthread([this](const std::stop_token& stop) {
        every(stop, store_.options.sync_interval, [&] {
          if (const Status done = store_.database->sync(); !done.ok())
            store_.database->warn(done.error().message);
        });
      });
    }
    return {};
  }

  Result<WriteReceipt> write(std::string_view tenant, const ProfileBatch& batch,
                             const WriteOptions& options) override {
    return rocks::write(store_, tenant, batch, options);
  }

  Result<std::vector<SeriesInfo>> series(std::string_view tenant, const Selector& selector,
                                         TimeRange range) override {
    return rocks::series(store_, tenant, selector, range);
  }
  Result<std::vector<std::string>> label_names(std::string_view tenant, const Selector& selector,
                                               TimeRange range) override {
    std::vector<std::string> names;
    with_matching(tenant, selector, range,
                  [&](const rocks::SeriesIndex& index, const SeriesSet& found) {
                    names = index.label_names(found);
                  });
    return names;
  }
  Result<std::vector<std::string>> label_values(std::string_view tenant, std::string_view name,
                                                const Selector& selector, TimeRange range,
                                                std::string_view prefix, size_t limit) override {
    std::vector<std::string> values;
    with_matching(tenant, selector, range,
                  [&](const rocks::SeriesIndex& index, const SeriesSet& found) {
                    values = index.label_values(name, found, prefix, limit);
                  });
    return values;
  }

  Result<std::vector<std::string>> sample_label_names(std::string_view tenant,
                                                      const Selector& selector,
                                                      TimeRange range) override {
    return rocks::sample_label_names(store_, tenant, selector, range);
  }
  Result<std::vector<SampleLabelSets>> sample_label_sets(
      std::string_view tenant, const SampleLabelsRequest& request) override {
    return rocks::sample_label_sets(store_, tenant, request);
  }
  Result<std::vector<Selection>> select(std::string_view tenant,
                                        const SelectRequest& request) override {
    return rocks::select(store_, tenant, request);
  }
  Result<std::vector<TotalsSeries>> totals(std::string_view tenant,
                                           const TotalsRequest& request) override {
    return rocks::totals(store_, tenant, request);
  }
  Result<std::vector<ProfilePoint>> points(std::string_view tenant,
                                           const PointsRequest& request) override {
    return rocks::points(store_, tenant, request);
  }
  Result<ProfileBatch> samples(std::string_view tenant, const SamplesRequest& request) override {
    return rocks::samples(store_, tenant, request);
  }

  Result<uint64_t> remove(std::string_view tenant, const Selector& selector,
                          TimeRange range) override {
    return rocks::remove(store_, tenant, selector, range);
  }

  std::vector<std::string> tenants() override {
    std::vector<std::string> names;
    for (const Tenant* tenant : store_.tenants.all()) names.push_back(tenant->name);
    return names;
  }

  Status set_retention(std::string_view name, const RetentionPolicy& policy) override {
    Tenant& tenant = store_.tenants.find_or_add(name);
    rocksdb::WriteBatch batch;
    std::string tenant_key(rocks::meta_key(rocks::MetaKind::kTenant).view());
    tenant_key += name;
    batch.Put(store_.database->family(Family::kMeta), tenant_key,
              rocks::slice(rocks::Key().u32(tenant.id).view()));
    batch.Put(store_.database->family(Family::kMeta),
              rocks::slice(rocks::meta_key(rocks::MetaKind::kRetention).u32(tenant.id).view()),
              rocks::encode_policy(policy));
    VESTA_TRY(store_.database->write(batch, true));
    {
      const WriterLock lock(tenant.index_mutex);
      tenant.retention = policy;
    }
    VESTA_TRY(rocks::apply_retention(store_, tenant, store_.now_ns()));
    return policy.max_bytes == 0 ? Status() : rocks::shrink_to(store_, policy.max_bytes);
  }

  Status apply_retention(int64_t now_ns) override {
    uint64_t max_bytes = 0;
    for (Tenant* tenant : store_.tenants.all()) {
      VESTA_TRY(rocks::apply_retention(store_, *tenant, now_ns));
      const ReaderLock lock(tenant->index_mutex);
      const uint64_t wanted = tenant->retention.max_bytes;
      if (wanted != 0) max_bytes = max_bytes == 0 ? wanted : std::min(max_bytes, wanted);
    }
    return max_bytes == 0 ? Status() : rocks::shrink_to(store_, max_bytes);
  }

  Status maintain() override {
    VESTA_TRY(rollups_.run([] { return false; }));
    store_.dictionaries.shrink();
    return reclaimer_.run(false);
  }
  Status flush() override { return store_.database->sync(); }
  Status backup(const std::string& directory) override { return rocks::backup(store_, directory); }

  std::string needs_restart() const override {
    if (!store_.database->is_stuck()) return {};
    return "recovery from an error of the disk does not end, and writes are refused";
  }
  EngineStats stats() override {
    EngineStats stats;
    for (Tenant* tenant : store_.tenants.all()) add_stats(*tenant, stats);
    const uint64_t indexes = stats.memory_bytes;
    rocks::Database& db = *store_.database;
    using Properties = rocksdb::DB::Properties;
    const uint64_t memtables = db.property(Properties::kCurSizeAllMemTables);
    const uint64_t dictionaries = store_.dictionaries.byte_size();
    stats.disk_bytes = db.disk_bytes();
    stats.memory_bytes += memtables + dictionaries + db.block_cache_bytes();
    stats.pending_rollups = rollups_.pending();
    const auto detail = [&](const char* name, uint64_t value) {
      stats.details.emplace_back(name, static_cast<double>(value));
    };
    detail("memtable_bytes", memtables);
    detail("block_cache_bytes", db.block_cache_bytes());
    detail("dictionary_bytes", dictionaries);
    detail("index_bytes", indexes);
    detail("live_data_bytes", db.property(Properties::kEstimateLiveDataSize));
    detail("pending_compaction_bytes", db.property(Properties::kEstimatePendingCompactionBytes));
    detail("reclaim_pending_ranges", reclaimer_.pending());
    detail("background_errors", db.property(Properties::kBackgroundErrors));
    detail("writes_refused", db.is_failing() || !db.has_room() ? 1 : 0);
    detail("lost_log_bytes", db.lost_log_bytes());
    return stats;
  }

  EngineStats tenant_stats(std::string_view name) override {
    EngineStats stats;
    Tenant* tenant = store_.tenants.find(name);
    if (tenant == nullptr) return stats;
    add_stats(*tenant, stats);
    const rocks::Key from = rocks::Key().u32(tenant->id);
    const rocks::Key to = rocks::Key().u32(tenant->id + 1);
    for (size_t i = 1; i < rocks::kFamilyCount; ++i) {
      stats.disk_bytes +=
          store_.database->approximate_bytes(static_cast<Family>(i), from.view(), to.view());
    }
    return stats;
  }

 private:
  template <class Visit>
  void with_matching(std::string_view name, const Selector& selector, TimeRange range,
                     Visit&& visit) {
    Tenant* tenant = store_.tenants.find(name);
    if (tenant == nullptr || range.empty()) return;
    const ReaderLock lock(tenant->index_mutex);
    const rocks::Hour from = rocks::first_hour(range);
    const rocks::Hour to = rocks::last_hour(range);
    if (selector.empty()) {
      visit(tenant->index, tenant->index.active(from, to));
      return;
    }
    visit(tenant->index, tenant->index.match(selector) & tenant->index.active(from, to));
  }

  void add_stats(Tenant& tenant, EngineStats& stats) {
    std::vector<std::shared_ptr<rocks::Partition>> partitions;
    {
      const ReaderLock lock(tenant.index_mutex);
      stats.series += tenant.index.all().cardinality();
      stats.memory_bytes += tenant.index.byte_size();
      // Under the lock: one that is dropped now would come back.
      for (const auto& [number, service] : tenant.services)
        partitions.push_back(store_.dictionaries.partition(tenant.id, number));
    }
    for (const auto& partition : partitions) {
      stats.stacks += partition->stack_count();
      stats.nodes += partition->node_count();
    }
    add_times(tenant, stats);
  }

  // The first and the last profile, by a look into the first and the last hour.
  void add_times(Tenant& tenant, EngineStats& stats) {
    int64_t oldest = INT64_MAX;
    int64_t newest = INT64_MIN;
    rocks::Hour first = 0;
    rocks::Hour last = 0;
    {
      const ReaderLock lock(tenant.index_mutex);
      if (tenant.index.hours().empty()) return;
      first = tenant.index.hours().begin()->first;
      last = tenant.index.hours().rbegin()->first;
    }
    rocks::Cursor cursor(*store_.database, Family::kTotals);
    for (const rocks::Hour hour : {first, last}) {
      const rocks::Key prefix = rocks::ProfileKey::prefix(tenant.id, hour);
      for (cursor.seek(prefix.view()); cursor.at_prefix(prefix.view()); cursor.next()) {
        const int64_t time_ns = rocks::ProfileKey::decode(cursor.key()).time_ns;
        oldest = std::min(oldest, time_ns);
        newest = std::max(newest, time_ns);
      }
    }
    if (oldest > newest) return;
    const bool is_first = stats.oldest_ns == 0 && stats.newest_ns == 0;
    stats.oldest_ns = is_first ? oldest : std::min(stats.oldest_ns, oldest);
    stats.newest_ns = is_first ? newest : std::max(stats.newest_ns, newest);
  }

  template <class Work>
  void every(const std::stop_token& stop, std::chrono::milliseconds interval, Work&& due) {
    while (!stop.stop_requested()) {
      {
        MutexLock lock(wake_mutex_);
        wake_.wait_for(lock, stop, interval, [] { return false; });
      }
      if (!stop.stop_requested()) due();
    }
  }

  void work(const std::stop_token& stop) {
    const bool has_room = store_.database->check_room().ok();
    if (store_.database->is_failing()) return;
    if (has_room) warn_of(rollups_.run([&] { return stop.stop_requested(); }));
    store_.dictionaries.shrink();
    // Whole hours, so that none is left in part.
    const rocks::Hour hour = rocks::hour_of(store_.now_ns());
    if (hour == retention_applied_) return;
    const Status applied = apply_retention(rocks::bucket_start_ns(hour, kHour));
    warn_of(applied);
    if (applied.ok()) retention_applied_ = hour;
  }

  void reclaim() {
    if (store_.database->is_failing()) return;
    const Status done = reclaimer_.run(true);
    if (!done.ok() && done.error().message != last_reclaim_warning_)
      store_.database->warn(done.error().message);
    last_reclaim_warning_ = done.ok() ? std::string() : done.error().message;
  }

  // Once for each message: what is wrong now is most likely wrong a second later.
  void warn_of(const Status& status) {
    if (status.ok()) {
      last_warning_.clear();
    } else if (status.error().message != last_warning_) {
      last_warning_ = status.error().message;
      store_.database->warn(last_warning_);
    }
  }

  rocks::Store store_;
  rocks::RollupBuilder rollups_;
  rocks::Reclaimer reclaimer_;
  rocks::Hour retention_applied_ = 0;
  std::string last_warning_;
  std::string last_reclaim_warning_;  // of its thread
  Mutex wake_mutex_;
  CondVar wake_;
  std::jthread worker_;
  std::jthread syncer_;
  std::jthread reclaiming_;
};

}  // namespace

Result<std::unique_ptr<Engine>> open_rocksdb_engine(const RocksdbOptions& options) {
  VESTA_ASSIGN(auto database, rocks::Database::open(options));
  auto engine = std::make_unique<RocksdbEngine>(options, std::move(database));
  VESTA_TRY(engine->start());
  return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace vesta
