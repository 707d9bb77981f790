// What the parts of the engine share: the database, the dictionaries, and the tenants with their
// indexes. One per engine; outlives all who use it. Locks are taken in this order: a tenant's step,
// its gate, partitions (by service), roll-up state, index.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "store/engine.h"
#include "store/rocksdb/database.h"
#include "store/rocksdb/dictionary_store.h"
#include "store/rocksdb/format/profile_lengths.h"
#include "store/rocksdb/garbage.h"
#include "store/rocksdb/options.h"
#include "store/rocksdb/rollup/rollup_state.h"
#include "store/rocksdb/series_index.h"
#include "store/rocksdb/write_gate.h"

namespace vesta::rocks {

struct Tenant {
  TenantId id = 0;
  std::string name;
  Mutex step;      // of background work: nothing is deleted under a roll-up that is being built
  WriteGate gate;  // writers share it; what deletes has it alone
  RollupState rollups;

  SharedMutex index_mutex;
  SeriesIndex index GUARDED_BY(index_mutex);
  std::vector<ProfileType> types GUARDED_BY(index_mutex);
  std::map<ProfileType, TypeNumber> type_numbers GUARDED_BY(index_mutex);
  std::map<std::string, PartitionNumber, std::less<>> partitions
      GUARDED_BY(index_mutex);  // by service
  std::map<PartitionNumber, std::string> services GUARDED_BY(index_mutex);
  std::map<PartitionNumber, ProfileLengths> lengths GUARDED_BY(index_mutex);
  PartitionNumber next_partition GUARDED_BY(index_mutex) = 0;
  SeriesNumber next_series GUARDED_BY(index_mutex) = 0;
  // Numbers of series whose first write failed. It may be in the store all the same: the next try
  // must bring the same keys, or it would be counted twice.
  std::map<Labels, SeriesNumber> unwritten GUARDED_BY(index_mutex);
  RetentionPolicy retention GUARDED_BY(index_mutex);
};

// Tenants stay where they are until the end.
class TenantTable {
 public:
  // Null when there is none of that name.
  Tenant* find(std::string_view name);
  Tenant& find_or_add(std::string_view name);
  Tenant& restore(TenantId id, std::string_view name);
  Tenant* by_id(TenantId id);
  std::vector<Tenant*> all();

 private:
  SharedMutex mutex_;
  std::map<std::string, std::unique_ptr<Tenant>, std::less<>> tenants_ GUARDED_BY(mutex_);
  std::map<TenantId, Tenant*> by_id_ GUARDED_BY(mutex_);
};

struct Store {
  Store(const RocksdbOptions& opts, std::unique_ptr<Database> opened)
      : options(opts),
        database(std::move(opened)),
        dictionaries(*database, opts.dictionary_bytes) {}

  int64_t now_ns() const { return options.clock().ns; }
  bool sync_writes() const { return options.sync == RocksdbOptions::Sync::kEveryWrite; }

  const RocksdbOptions options;
  const std::unique_ptr<Database> database;
  DictionaryStore dictionaries;
  TenantTable tenants;
  Mutex backup_mutex;  // one backup at a time
  Garbage garbage;
  std::atomic<uint64_t> range_deletions = 0;  // that are in memory only, about
};

// Fills tenants and indexes from the database.
Status load(Store& store);

// Records of `meta` and `series`.
std::string encode_labels(const Labels& labels, PartitionNumber partition, TypeNumber type);
std::string encode_policy(const RetentionPolicy& policy);
// Profiles of the service may be this long.
void put_length(rocksdb::WriteBatch& batch, Database& database, TenantId tenant,
                PartitionNumber partition, uint8_t length);

}  // namespace vesta::rocks
