// What the parts of the engine share: the database, the dictionaries, and the tenants with their
// indexes. One per engine; outlives all who use it. Locks are taken in this order: a tenant's step,
// its gate, partitions (by service), roll-up state, index.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "store/engine.h"
#include "store/rocksdb/database.h"
#include "store/rocksdb/dictionary_store.h"
#include "store/rocksdb/garbage.h"
#include "store/rocksdb/options.h"
#include "store/rocksdb/profile_lengths.h"
#include "store/rocksdb/rollup_state.h"
#include "store/rocksdb/series_index.h"
#include "store/rocksdb/write_gate.h"

namespace vesta::rocks {

struct Tenant {
  TenantId id = 0;
  std::string name;
  std::mutex step;  // of background work: nothing is deleted under a roll-up that is being built
  WriteGate gate;   // writers share it; what deletes has it alone
  RollupState rollups;

  std::shared_mutex index_mutex;  // guards what follows
  SeriesIndex index;
  std::vector<ProfileType> types;
  std::map<ProfileType, TypeNumber> type_numbers;
  std::map<std::string, PartitionNumber, std::less<>> partitions;  // by service
  std::map<PartitionNumber, std::string> services;
  std::map<PartitionNumber, ProfileLengths> lengths;
  PartitionNumber next_partition = 0;
  SeriesNumber next_series = 0;
  // Numbers of series whose first write failed. It may be in the store all the same: the next try
  // must bring the same keys, or it would be counted twice.
  std::map<Labels, SeriesNumber> unwritten;
  RetentionPolicy retention;
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
  std::shared_mutex mutex_;
  std::map<std::string, std::unique_ptr<Tenant>, std::less<>> tenants_;
  std::map<TenantId, Tenant*> by_id_;
};

struct Store {
  Store(const RocksdbOptions& opts, std::unique_ptr<Database> opened)
      : options(opts),
        database(std::move(opened)),
        dictionaries(*database, opts.dictionary_bytes) {}

  int64_t now_ns() const;
  bool sync_writes() const { return options.sync == RocksdbOptions::Sync::kEveryWrite; }

  const RocksdbOptions options;
  const std::unique_ptr<Database> database;
  DictionaryStore dictionaries;
  TenantTable tenants;
  std::mutex backup_mutex;  // one backup at a time
  Garbage garbage;
  std::atomic<uint64_t> range_deletions = 0;  // that are in memory only, about
};

// Fills tenants and indexes from the database.
Status load(Store& store);

// From when on profiles of the service are kept.
int64_t kept_from(const RetentionPolicy& policy, std::string_view service, int64_t now_ns);

// Records of `meta` and `series`.
std::string encode_labels(const Labels& labels, PartitionNumber partition, TypeNumber type);
std::string encode_policy(const RetentionPolicy& policy);
// Profiles of the service may be this long.
void put_length(rocksdb::WriteBatch& batch, Database& database, TenantId tenant,
                PartitionNumber partition, uint8_t length);

}  // namespace vesta::rocks
