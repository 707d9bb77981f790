// The RocksDB database under the engine: opens it with the options that were measured, names its
// column families, turns its errors into ours, and comes back by itself from a full disk. Owns the
// database; snapshots and iterators must be gone before it. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "store/rocksdb/disk_reserve.h"
#include "store/rocksdb/format/keys.h"
#include "store/rocksdb/guarded_files.h"
#include "store/rocksdb/log_list.h"
#include "store/rocksdb/options.h"

namespace rocksdb {
class ColumnFamilyHandle;
class DB;
class Iterator;
class Slice;
class Snapshot;
class Status;
class WriteBatch;
}  // namespace rocksdb

namespace vesta::rocks {

class ReplayGuard;

enum class Family : uint8_t {
  kMeta,
  kSeries,      // tenant, series -> labels
  kHours,       // tenant, hour, series: the series has a profile in that hour
  kDictionary,  // tenant, partition, chunk
  kRaw,         // tenant, hour, series, time, content
  kTotals,      // the same key; total and duration
  kRollup,
};
inline constexpr size_t kFamilyCount = 7;

class Database {
 public:
  // kUnavailable when another process has it, kUnsupported when a newer version wrote it, kIo when
  // it is damaged beyond what can be served.
  static Result<std::unique_ptr<Database>> open(const RocksdbOptions& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  rocksdb::DB& db() { return *db_; }
  rocksdb::ColumnFamilyHandle* family(Family family) const {
    return families_[static_cast<size_t>(family)];
  }

  // kUnavailable when the disk is full or failing; tries to recover first if it was. What was
  // refused may be in the store all the same.
  Status write(rocksdb::WriteBatch& batch, bool sync);
  // Whether there is room for more than what frees some: kUnavailable while the disk is full.
  Status check_room();
  // Until all that was written so far would survive a power cut.
  Status sync();
  // Tries to take writes again after an error, ten times a second at most; true when there is none.
  // Everything in memory goes to files, and writes to a new log: of the old one nothing is needed.
  bool recover();
  bool is_failing() const { return files_.failures() != handled_.load(); }
  // Whether an attempt to recover has run into its limit.
  bool is_stuck() const;
  bool has_room() const { return reserve_.is_held(); }
  // Of the log, that could not be replayed when the database was opened.
  uint64_t lost_log_bytes() const { return lost_log_bytes_; }

  Result<bool> contains(Family in, std::string_view key);
  // False when there is no such key.
  Result<bool> get(Family in, std::string_view key, std::string& value);

  // Bytes of files between two keys, memtables included.
  uint64_t approximate_bytes(Family in, std::string_view from, std::string_view to);
  uint64_t property(std::string_view name) const;  // summed over families
  // Of files, and of what is to be written to them.
  uint64_t disk_bytes();
  uint64_t block_cache_bytes() const;

  // Whether an earlier version of Vesta wrote the data. raise_schema() writes what the batch has
  // and the number of this version.
  bool is_of_schema_before() const;
  Status raise_schema(rocksdb::WriteBatch& batch);

  void warn(std::string_view message) const {
    if (warn_) warn_(message);
  }
  const std::string& directory() const { return directory_; }

  Error error_of(const rocksdb::Status& status, std::string_view doing) const;
  // Of reading a family: what else can still be read depends on it.
  Error read_error(const rocksdb::Status& status, Family from) const;

 private:
  explicit Database(const RocksdbOptions& options);
  Status open_files(const RocksdbOptions& options);
  Status check_logs() const;
  Status check_schema();
  bool resume() REQUIRES(recover_mutex_);
  bool start_new_log() REQUIRES(recover_mutex_);
  Error refused(std::string_view why) const;

  const std::string directory_;
  std::string schema_;  // that the data has
  const std::function<void(std::string_view)> warn_;
  DiskReserve reserve_;
  LogList logs_;
  GuardedFiles files_;
  std::unique_ptr<ReplayGuard> replay_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  uint64_t lost_log_bytes_ = 0;
  std::atomic<uint64_t> handled_ = 0;  // failures of files_ that were recovered from
  const std::chrono::nanoseconds recovery_limit_;
  std::atomic<int64_t> recovery_start_ns_ = 0;  // by the steady clock; 0: none is under way
  std::atomic<bool> has_warned_of_stuck_ = false;
  Mutex recover_mutex_;
  std::chrono::steady_clock::time_point last_try_ GUARDED_BY(recover_mutex_);
  std::string last_problem_ GUARDED_BY(recover_mutex_);
  std::atomic<int64_t> last_room_check_ns_ = 0;
};

// Everything below one moment. Must not outlive the database.
class ReadView {
 public:
  explicit ReadView(Database& database);
  ~ReadView();
  ReadView(const ReadView&) = delete;
  ReadView& operator=(const ReadView&) = delete;

  Database& database() const { return database_; }
  const rocksdb::Snapshot* snapshot() const { return snapshot_; }

 private:
  Database& database_;
  const rocksdb::Snapshot* snapshot_;
};

// Walks over keys in order. Not shared between threads.
class Cursor {
 public:
  // Over what a view sees, or over the newest. `fill_cache` for what will be asked again.
  Cursor(const ReadView& view, Family family, bool fill_cache = true);
  Cursor(Database& database, Family family, bool fill_cache = true);
  ~Cursor();
  Cursor(Cursor&&) noexcept;
  Cursor& operator=(Cursor&&) = delete;

  // To the first key that is not before this one; nothing is done where it stands there already.
  void seek(std::string_view key);
  // To the last key that is not after this one.
  void seek_back(std::string_view key);
  void next();
  bool valid() const;
  bool at_prefix(std::string_view prefix) const { return valid() && key().starts_with(prefix); }
  std::string_view key() const;
  std::string_view value() const;
  // Of all steps so far: an error ends a walk as the last key does.
  Status status() const;

 private:
  Cursor(Database& database, const rocksdb::Snapshot* snapshot, Family family, bool fill_cache);
  Database& database_;
  const Family family_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

}  // namespace vesta::rocks
