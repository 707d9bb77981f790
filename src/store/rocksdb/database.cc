#include "store/rocksdb/database.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>
#include <rocksdb/write_buffer_manager.h>

#include <array>
#include <cstdarg>
#include <filesystem>

namespace vesta::rocks {
namespace {

constexpr std::array<const char*, kFamilyCount> kNames = {
    "default", "series", "hours", "dictionary", "raw", "totals", "rollup"};
constexpr std::string_view kSchema = "3";

rocksdb::Slice slice(std::string_view text) {
  return {text.data(), text.size()};
}

// RocksDB's own messages: warnings and worse go to the operator, the rest nowhere.
class WarningLogger final : public rocksdb::Logger {
 public:
  explicit WarningLogger(std::function<void(std::string_view)> warn)
      : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL), warn_(std::move(warn)) {}

  using rocksdb::Logger::Logv;
  // NOLINTNEXTLINE(cert-dcl50-cpp): the base class has it so.
  void Logv(const char* format, va_list arguments) override {
    std::array<char, 1024> text{};
    std::vsnprintf(text.data(), text.size(), format, arguments);
    if (warn_) warn_(text.data());
  }

 private:
  std::function<void(std::string_view)> warn_;
};

rocksdb::ColumnFamilyOptions family_options(Family family, const RocksdbOptions& options,
                                            const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions out;
  const bool is_large = family == Family::kRaw;
  out.write_buffer_size = is_large ? std::max<size_t>(options.memtable_bytes / 3, 1 << 20)
                                   : std::max<size_t>(options.memtable_bytes / 12, 1 << 18);
  out.max_write_buffer_number = 3;
  out.level_compaction_dynamic_level_bytes = true;
  out.compression = rocksdb::kLZ4Compression;
  out.bottommost_compression = rocksdb::kZSTD;
  out.bottommost_compression_opts.enabled = true;
  out.bottommost_compression_opts.level = 1;
  out.target_file_size_base = uint64_t{64} << 20;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.block_size = is_large || family == Family::kRollup ? 32 << 10 : 16 << 10;
  table.format_version = 5;
  // Debian's build knows no fast CRC32.
  table.checksum = rocksdb::kXXH3;
  // Whether a profile is there already is asked with each write.
  if (family == Family::kTotals) table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  out.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return out;
}

rocksdb::DBOptions database_options(const RocksdbOptions& options) {
  rocksdb::DBOptions out;
  if (options.env != nullptr) out.env = options.env;
  out.create_if_missing = true;
  out.create_missing_column_families = true;
  out.max_background_jobs = 2;
  out.max_open_files = 512;
  out.max_total_wal_size = uint64_t{256} << 20;
  // One batch goes to all families or to none, also when a tail of the log is lost after a flush.
  out.atomic_flush = true;
  out.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  // A damaged file costs what is in it, not the store; blocks are checked whenever they are read.
  out.paranoid_checks = false;
  out.bytes_per_sync = 1 << 20;
  out.info_log = std::make_shared<WarningLogger>(options.warn);
  out.write_buffer_manager = std::make_shared<rocksdb::WriteBufferManager>(options.memtable_bytes);
  out.avoid_unnecessary_blocking_io = true;
  out.max_bgerror_resume_count = 0;  // recover() does it
  return out;
}

}  // namespace

Database::~Database() {
  if (db_ == nullptr) return;
  for (rocksdb::ColumnFamilyHandle* handle : families_) db_->DestroyColumnFamilyHandle(handle);
  families_.clear();
  db_->Close().PermitUncheckedError();
}

Result<std::unique_ptr<Database>> Database::open(const RocksdbOptions& options) {
  std::unique_ptr<Database> database(new Database);
  database->directory_ = options.directory;
  database->warn_ = options.warn;
  std::error_code ignored;
  std::filesystem::create_directories(options.directory, ignored);
  const auto cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (size_t i = 0; i < kFamilyCount; ++i)
    descriptors.emplace_back(kNames[i], family_options(static_cast<Family>(i), options, cache));
  const rocksdb::DBOptions database_opts = database_options(options);

  // What this version does not know would be refused by RocksDB in its own words.
  std::vector<std::string> present;
  rocksdb::DB::ListColumnFamilies(database_opts, options.directory, &present)
      .PermitUncheckedError();  // a new directory has none
  for (const std::string& name : present) {
    if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) continue;
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{}: the data was written by a newer version of Vesta (it has '{}')",
                             options.directory, name),
                 "start that version, or restore a backup of this one into another directory"};
  }
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened =
      rocksdb::DB::Open(database_opts, options.directory, descriptors, &database->families_, &db);
  database->db_.reset(db);
  if (!opened.ok()) {
    const std::string text = opened.ToString();
    if (text.find("lock") != std::string::npos && text.find("LOCK") != std::string::npos) {
      return Error{ErrorCode::kUnavailable,
                   fmt::format("{}: another process has the data open", options.directory),
                   "stop it, or give this one a directory of its own with --data"};
    }
    Error error = database->error_of(opened, "open the data");
    if (opened.IsCorruption() || opened.IsNotFound()) {
      error.hint =
          "restore a backup into another directory with 'vesta restore'; the damaged "
          "files were left as they are";
    }
    return error;
  }
  VESTA_TRY(database->check_schema());
  return database;
}

Status Database::check_schema() {
  const Key key = meta_key(MetaKind::kSchema);
  std::string version;
  VESTA_ASSIGN(const bool found, get(Family::kMeta, key.view(), version));
  if (!found) {
    rocksdb::WriteBatch batch;
    batch.Put(family(Family::kMeta), slice(key.view()), slice(kSchema));
    return write(batch, true);
  }
  if (version == kSchema) return {};
  return Error{ErrorCode::kUnsupported,
               fmt::format("{}: the data has schema version {}, this Vesta knows version {}",
                           directory_, version, kSchema),
               "start the version of Vesta that wrote it; it can export what is to be kept"};
}

Error Database::error_of(const rocksdb::Status& status, std::string_view doing) const {
  Error error{ErrorCode::kIo,
              fmt::format("{}: cannot {}: {}", directory_, doing, status.ToString()), ""};
  if (status.IsNoSpace() || status.subcode() == rocksdb::Status::kNoSpace) {
    error.code = ErrorCode::kUnavailable;
    error.message = fmt::format("{}: cannot {}: the disk is full", directory_, doing);
    error.hint =
        "make room, or let data go earlier; writes are taken again as soon as there is room";
  } else if (status.IsCorruption()) {
    error.hint =
        "a file is damaged; other data is still served. Restore a backup, or delete the "
        "range that cannot be read";
  }
  return error;
}

Status Database::write(rocksdb::WriteBatch& batch, bool sync) {
  if (is_failing() && !recover()) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("{}: writes are not taken at the moment, because the disk is full or "
                             "failing",
                             directory_),
                 "make room on the disk; reads go on, and writes as soon as they can"};
  }
  rocksdb::WriteOptions options;
  options.sync = sync;
  const rocksdb::Status status = db_->Write(options, &batch);
  if (status.ok()) return {};
  failing_ = true;
  Error error = error_of(status, "write");
  error.code = ErrorCode::kUnavailable;
  if (error.hint.empty()) error.hint = "reads go on; see the server's log for the disk's error";
  warn(error.message);
  return error;
}

Status Database::sync() {
  const rocksdb::Status status = db_->FlushWAL(true);
  if (status.ok()) return {};
  failing_ = true;
  return error_of(status, "flush the log");
}

bool Database::recover() {
  const std::lock_guard lock(recover_mutex_);
  if (!failing_) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_try_ < std::chrono::milliseconds(100)) return false;
  last_try_ = now;
  if (!db_->Resume().ok()) return false;
  failing_ = false;
  warn(fmt::format("{}: writes are taken again", directory_));
  return true;
}

Result<bool> Database::contains(Family in, std::string_view key) {
  rocksdb::PinnableSlice value;
  const rocksdb::Status status = db_->Get({}, family(in), slice(key), &value);
  if (status.ok()) return true;
  if (status.IsNotFound()) return false;
  return error_of(status, "read");
}

Result<bool> Database::get(Family in, std::string_view key, std::string& value) {
  const rocksdb::Status status = db_->Get({}, family(in), slice(key), &value);
  if (status.ok()) return true;
  if (status.IsNotFound()) return false;
  return error_of(status, "read");
}

uint64_t Database::approximate_bytes(Family in, std::string_view from, std::string_view to) {
  const rocksdb::Range range(slice(from), slice(to));
  rocksdb::SizeApproximationOptions options;
  options.include_memtables = true;
  uint64_t bytes = 0;
  db_->GetApproximateSizes(options, family(in), &range, 1, &bytes).PermitUncheckedError();
  return bytes;
}

Status Database::delete_files(Family in, std::string_view from, std::string_view to) {
  const rocksdb::Slice begin = slice(from);
  const rocksdb::Slice end = slice(to);
  const rocksdb::Status status =
      rocksdb::DeleteFilesInRange(db_.get(), family(in), &begin, &end, false);
  if (!status.ok()) return error_of(status, "delete files");
  return {};
}

uint64_t Database::property(std::string_view name) const {
  uint64_t sum = 0;
  for (rocksdb::ColumnFamilyHandle* handle : families_) {
    uint64_t value = 0;
    if (db_->GetIntProperty(handle, slice(name), &value)) sum += value;
  }
  return sum;
}

uint64_t Database::disk_bytes() {
  uint64_t sum = property(rocksdb::DB::Properties::kTotalSstFilesSize);
  const std::string last(32, static_cast<char>(0xff));
  const rocksdb::Range all(rocksdb::Slice(), slice(last));
  rocksdb::SizeApproximationOptions options;
  options.include_memtables = true;
  options.include_files = false;
  for (rocksdb::ColumnFamilyHandle* handle : families_) {
    uint64_t bytes = 0;
    db_->GetApproximateSizes(options, handle, &all, 1, &bytes).PermitUncheckedError();
    sum += bytes;
  }
  return sum;
}

uint64_t Database::block_cache_bytes() const {
  uint64_t bytes = 0;
  db_->GetIntProperty(families_[0], rocksdb::DB::Properties::kBlockCacheUsage, &bytes);
  return bytes;
}

ReadView::ReadView(Database& database)
    : database_(database), snapshot_(database.db().GetSnapshot()) {}

ReadView::~ReadView() {
  database_.db().ReleaseSnapshot(snapshot_);
}

Cursor::Cursor(const ReadView& view, Family family, bool fill_cache)
    : Cursor(view.database(), view.snapshot(), family, fill_cache) {}

Cursor::Cursor(Database& database, Family family, bool fill_cache)
    : Cursor(database, nullptr, family, fill_cache) {}

Cursor::Cursor(Database& database, const rocksdb::Snapshot* snapshot, Family family,
               bool fill_cache)
    : database_(database) {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  options.fill_cache = fill_cache;
  iterator_.reset(database.db().NewIterator(options, database.family(family)));
}

Cursor::~Cursor() = default;
Cursor::Cursor(Cursor&&) noexcept = default;

void Cursor::seek(std::string_view key) {
  if (iterator_->Valid() && iterator_->key() == slice(key)) return;
  iterator_->Seek(slice(key));
}

void Cursor::seek_back(std::string_view key) {
  iterator_->SeekForPrev(slice(key));
}

void Cursor::next() {
  iterator_->Next();
}

bool Cursor::valid() const {
  return iterator_->Valid();
}

std::string_view Cursor::key() const {
  const rocksdb::Slice key = iterator_->key();
  return {key.data(), key.size()};
}

std::string_view Cursor::value() const {
  const rocksdb::Slice value = iterator_->value();
  return {value.data(), value.size()};
}

Status Cursor::status() const {
  const rocksdb::Status status = iterator_->status();
  if (status.ok()) return {};
  return database_.error_of(status, "read");
}

}  // namespace vesta::rocks
