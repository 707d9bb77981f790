#include "store/rocksdb/database.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/transaction_log.h>
#include <rocksdb/write_batch.h>
#include <rocksdb/write_buffer_manager.h>

#include <array>
#include <charconv>
#include <cstdarg>

#include "store/rocksdb/private_directory.h"
#include "store/rocksdb/replay_guard.h"
#include "store/rocksdb/slice.h"

namespace vesta::rocks {
namespace {

constexpr std::array<const char*, kFamilyCount> kNames = {
    "default", "series", "hours", "dictionary", "raw", "totals", "rollup"};
constexpr std::string_view kSchema = "5";
// Can be read as they are, once it is known how long profiles are (store.cc). Version 3 has no
// pieces of profiles, all else is the same.
constexpr std::array<std::string_view, 2> kSchemasBefore = {"3", "4"};
constexpr auto kRetryInterval = std::chrono::milliseconds(100);

// RocksDB's own messages: warnings and worse go to the operator, the rest nowhere. What it drops of
// a log goes to the guard, which says it in our words.
class WarningLogger final : public rocksdb::Logger {
 public:
  WarningLogger(std::function<void(std::string_view)> warn, ReplayGuard& replay)
      : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL),
        warn_(std::move(warn)),
        replay_(replay) {}

  using rocksdb::Logger::Logv;
  // NOLINTNEXTLINE(cert-dcl50-cpp): the base class has it so.
  void Logv(const char* format, va_list arguments) override {
    std::array<char, 1024> text{};
    std::vsnprintf(text.data(), text.size(), format, arguments);
    if (!is_dropped_part(text.data()) && warn_) warn_(text.data());
  }

 private:
  // "FILE: dropping N bytes; REASON"
  bool is_dropped_part(std::string_view text) {
    constexpr std::string_view kDropping = ": dropping ";
    const size_t at = text.find(kDropping);
    if (at == std::string_view::npos) return false;
    uint64_t bytes = 0;
    std::from_chars(text.data() + at + kDropping.size(), text.data() + text.size(), bytes);
    const size_t reason = text.find("; ", at);
    replay_.note_dropped(bytes, reason == std::string_view::npos ? "" : text.substr(reason + 2));
    return true;
  }

  std::function<void(std::string_view)> warn_;
  ReplayGuard& replay_;
};

// Errors of background work, of which no writer learns.
class FailureListener final : public rocksdb::EventListener {
 public:
  explicit FailureListener(GuardedFiles& files) : files_(files) {}
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* status) override {
    // A compaction is tried again, and nothing waits for it.
    if (reason == rocksdb::BackgroundErrorReason::kCompaction || !status->IsIOError()) return;
    files_.note_failure();
  }

 private:
  GuardedFiles& files_;
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

rocksdb::DBOptions database_options(const RocksdbOptions& options, GuardedFiles& files,
                                    ReplayGuard& replay) {
  rocksdb::DBOptions out;
  out.env = files.env();
  out.wal_filter = &replay;
  out.listeners = {std::make_shared<FailureListener>(files)};
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
  out.info_log = std::make_shared<WarningLogger>(options.warn, replay);
  // Where there is little room left, ext4 gives all of it to a log that asks for more.
  out.allow_fallocate = false;
  // What is in memory without being in the log is never more than start_new_log() puts there.
  out.avoid_flush_during_shutdown = true;
  out.write_buffer_manager = std::make_shared<rocksdb::WriteBufferManager>(options.memtable_bytes);
  out.avoid_unnecessary_blocking_io = true;
  out.max_bgerror_resume_count = 0;  // recover() does it
  return out;
}

int64_t steady_ns() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

}  // namespace

Database::~Database() {
  if (db_ == nullptr) return;
  for (rocksdb::ColumnFamilyHandle* handle : families_) db_->DestroyColumnFamilyHandle(handle);
  families_.clear();
  db_->Close().PermitUncheckedError();
}

Database::Database(const RocksdbOptions& options)
    : directory_(options.directory),
      warn_(options.warn),
      reserve_(options.directory + "/reserve", options.reserve_bytes),
      logs_(options.directory),
      files_(options.env, logs_),
      recovery_limit_(options.recovery_limit) {}

Result<std::unique_ptr<Database>> Database::open(const RocksdbOptions& options) {
  rocksdb::Env::Default()->SetAllowNonOwnerAccess(false).PermitUncheckedError();
  make_private_directory(options.directory);  // RocksDB says what is wrong with it
  std::unique_ptr<Database> database(new Database(options));
  VESTA_TRY(database->check_logs());
  Status opened = database->open_files(options);
  if (!opened.ok() && database->files_.was_full() && database->reserve_.is_held()) {
    // A start writes before it can free anything.
    database->reserve_.release();
    opened = database->open_files(options);
  }
  if (!opened.ok()) return std::move(opened).error();
  database->handled_ = database->files_.failures();
  // Again, now that the new manifest is the current one.
  std::unique_ptr<rocksdb::LogFile> log;
  if (database->db_->GetCurrentWalFile(&log).ok()) database->logs_.add(log->PathName().substr(1));
  VESTA_TRY(database->check_schema());
  if (!database->reserve_.hold()) {
    database->warn(
        fmt::format("{}: the disk is full; refusing new profiles until there is room (queries and "
                    "deletes work)",
                    options.directory));
  }
  return database;
}

// A log that is gone takes along what was acknowledged last.
Status Database::check_logs() const {
  const std::vector<std::string> missing = logs_.missing();
  if (missing.empty()) return {};
  std::string names;
  for (const std::string& name : missing) names += (names.empty() ? "" : ", ") + name;
  return Error{
      ErrorCode::kIo,
      fmt::format("{}: the write-ahead log {} is missing; it holds the profiles acknowledged last",
                  directory_, names),
      fmt::format("restore the file; to start without these profiles, remove {}", logs_.path())};
}

Status Database::open_files(const RocksdbOptions& options) {
  replay_ = std::make_unique<ReplayGuard>();
  const auto cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (size_t i = 0; i < kFamilyCount; ++i)
    descriptors.emplace_back(kNames[i], family_options(static_cast<Family>(i), options, cache));
  const rocksdb::DBOptions database_opts = database_options(options, files_, *replay_);

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
      rocksdb::DB::Open(database_opts, options.directory, descriptors, &families_, &db);
  db_.reset(db);
  if (!opened.ok()) {
    const std::string text = opened.ToString();
    if (text.find("lock") != std::string::npos && text.find("LOCK") != std::string::npos) {
      return Error{ErrorCode::kUnavailable,
                   fmt::format("{}: another process has the data open", options.directory),
                   "stop it, or use another directory with --data"};
    }
    Error error = error_of(opened, "open the data");
    if (opened.IsCorruption() || opened.IsNotFound() || opened.IsPathNotFound()) {
      error.hint =
          "no data can be served; restore a backup into another directory with 'vesta restore'; "
          "the damaged files were left unchanged";
    }
    return error;
  }
  lost_log_bytes_ = replay_->dropped_bytes();
  if (const std::string report = replay_->report(); !report.empty())
    warn(fmt::format("{}: {}", directory_, report));
  return {};
}

Status Database::check_schema() {
  const Key key = meta_key(MetaKind::kSchema);
  std::string version;
  VESTA_ASSIGN(const bool found, get(Family::kMeta, key.view(), version));
  schema_ = found ? version : std::string(kSchema);
  if (version == kSchema) return {};
  if (!found) {
    rocksdb::WriteBatch batch;
    batch.Put(family(Family::kMeta), slice(key.view()), slice(kSchema));
    return write(batch, true);
  }
  if (is_of_schema_before()) return {};
  return Error{ErrorCode::kUnsupported,
               fmt::format("{}: the data has schema version {}; this Vesta supports version {}",
                           directory_, version, kSchema),
               "start the version of Vesta that wrote it, and export the data from there"};
}

bool Database::is_of_schema_before() const {
  return std::ranges::find(kSchemasBefore, schema_) != kSchemasBefore.end();
}

Status Database::raise_schema(rocksdb::WriteBatch& batch) {
  batch.Put(family(Family::kMeta), slice(meta_key(MetaKind::kSchema).view()), slice(kSchema));
  // On a full disk, the next start does it again.
  if (const Status raised = write(batch, true); !raised) {
    warn(raised.error().message);
  } else {
    schema_ = kSchema;
  }
  return {};
}

Error Database::error_of(const rocksdb::Status& status, std::string_view doing) const {
  Error error{ErrorCode::kIo,
              fmt::format("{}: cannot {}: {}", directory_, doing, status.ToString()), ""};
  if (GuardedFiles::is_no_space(status)) {
    error.code = ErrorCode::kUnavailable;
    error.message = fmt::format("{}: cannot {}: the disk is full", directory_, doing);
    error.hint =
        "free some space, or shorten the retention; writes are accepted again as soon as there is "
        "room";
  }
  return error;
}

Error Database::read_error(const rocksdb::Status& status, Family from) const {
  Error error = error_of(status, "read");
  if (!status.IsCorruption()) return error;
  switch (from) {
    case Family::kRaw:
    case Family::kTotals:
    case Family::kRollup:
      error.hint =
          "a file is damaged: queries and writes that need it fail, others work; delete the range, "
          "which helps unless the file cannot be opened at all, or restore a backup";
      break;
    case Family::kDictionary:
      error.hint =
          "a file is damaged: queries and writes that need it fail, others work; delete the "
          "service, which helps unless the file cannot be opened at all, or restore a backup";
      break;
    case Family::kMeta:
    case Family::kSeries:
    case Family::kHours:
      error.hint =
          "an essential file is damaged, and no data can be served; restore a backup into another "
          "directory with 'vesta restore'";
      break;
  }
  return error;
}

Error Database::refused(std::string_view why) const {
  return Error{ErrorCode::kUnavailable,
               fmt::format("{}: cannot accept writes: {}", directory_, why),
               "free some space; queries still work, and writes resume as soon as possible"};
}

Status Database::check_room() {
  if (is_failing() && !recover()) return refused("the disk is full or failing");
  if (reserve_.is_held()) return {};
  const int64_t now = steady_ns();
  int64_t last = last_room_check_ns_.load();
  const bool is_due = now - last >= std::chrono::nanoseconds(kRetryInterval).count();
  if (!is_due || !last_room_check_ns_.compare_exchange_strong(last, now) || !reserve_.hold())
    return refused("the disk is full");
  warn(fmt::format("{}: the disk has room; writes are accepted again", directory_));
  return {};
}

Status Database::write(rocksdb::WriteBatch& batch, bool sync) {
  if (is_failing() && !recover()) return refused("the disk is full or failing");
  rocksdb::WriteOptions options;
  options.sync = sync;
  const rocksdb::Status status = db_->Write(options, &batch);
  // Where the log failed meanwhile, this may have gone to one that the next start does not read.
  if (status.ok() && !is_failing()) return {};
  if (status.ok()) return refused("the disk is full or failing");
  if (!is_failing()) files_.note_failure();
  Error error = error_of(status, "write");
  error.code = ErrorCode::kUnavailable;
  if (error.hint.empty())
    error.hint = "queries still work; see the server's log for the disk's error";
  warn(error.message);
  return error;
}

Status Database::sync() {
  if (is_failing()) return refused("the disk is full or failing");
  const rocksdb::Status status = db_->FlushWAL(true);
  if (status.ok()) return {};
  if (!is_failing()) files_.note_failure();
  return error_of(status, "flush the log");
}

bool Database::is_stuck() const {
  const int64_t start = recovery_start_ns_.load();
  return start != 0 && steady_ns() - start > recovery_limit_.count();
}

bool Database::recover() {
  // Nobody waits for somebody else's attempt: reads need the threads.
  if (!recover_mutex_.try_lock()) {
    if (is_stuck() && !has_warned_of_stuck_.exchange(true)) {
      warn(
          fmt::format("{}: recovery from an error of the disk does not end; restart the server to "
                      "accept writes again (queries work, and nothing acknowledged is lost)",
                      directory_));
    }
    return false;
  }
  const MutexLock lock(recover_mutex_, std::adopt_lock);
  const uint64_t failures = files_.failures();
  if (failures == handled_) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_try_ < kRetryInterval) return false;
  last_try_ = now;
  recovery_start_ns_ = steady_ns();
  const bool is_fresh = resume();
  recovery_start_ns_ = 0;
  has_warned_of_stuck_ = false;
  if (!is_fresh) return false;
  last_problem_.clear();
  handled_ = failures;
  if (reserve_.hold()) {
    warn(fmt::format("{}: writes are accepted again", directory_));
  } else {
    warn(
        fmt::format("{}: the disk is full; refusing new profiles until there is room (queries and "
                    "deletes work)",
                    directory_));
  }
  return true;
}

bool Database::resume() {
  if (files_.was_full()) reserve_.release();
  // Resume() insists on this after a failure of the manifest, which not all that write to it see
  // to.
  db_->DisableFileDeletions().PermitUncheckedError();
  const rocksdb::Status resumed = db_->Resume();
  if (!resumed.ok() && resumed.ToString() != last_problem_) {
    last_problem_ = resumed.ToString();
    warn(error_of(resumed, "accept writes again").message);
  }
  const bool is_fresh = resumed.ok() && start_new_log();
  db_->EnableFileDeletions(false).PermitUncheckedError();
  return is_fresh;
}

// DB::Resume() does this only after errors that it counts as such; a log that failed to take a
// write is none of them while paranoid_checks is off.
bool Database::start_new_log() {
  // Where nothing is in memory there would be no new log.
  rocksdb::WriteBatch batch;
  batch.Put(family(Family::kMeta), slice(meta_key(MetaKind::kSchema).view()), slice(schema_));
  rocksdb::WriteOptions in_memory;
  in_memory.disableWAL = true;
  rocksdb::Status status = db_->Write(in_memory, &batch);
  if (status.ok()) {
    rocksdb::FlushOptions flush;
    flush.allow_write_stall = true;
    status = db_->Flush(flush, families_);
  }
  std::unique_ptr<rocksdb::LogFile> log;
  if (status.ok()) status = db_->GetCurrentWalFile(&log);
  if (status.ok()) return !files_.is_damaged(log->LogNumber());
  if (status.ToString() != last_problem_) {
    last_problem_ = status.ToString();
    warn(error_of(status, "start a new log").message);
  }
  return false;
}

Result<bool> Database::contains(Family in, std::string_view key) {
  rocksdb::PinnableSlice value;
  const rocksdb::Status status = db_->Get({}, family(in), slice(key), &value);
  if (status.ok()) return true;
  if (status.IsNotFound()) return false;
  return read_error(status, in);
}

Result<bool> Database::get(Family in, std::string_view key, std::string& value) {
  const rocksdb::Status status = db_->Get({}, family(in), slice(key), &value);
  if (status.ok()) return true;
  if (status.IsNotFound()) return false;
  return read_error(status, in);
}

uint64_t Database::approximate_bytes(Family in, std::string_view from, std::string_view to) {
  const rocksdb::Range range(slice(from), slice(to));
  rocksdb::SizeApproximationOptions options;
  options.include_memtables = true;
  uint64_t bytes = 0;
  db_->GetApproximateSizes(options, family(in), &range, 1, &bytes).PermitUncheckedError();
  return bytes;
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
    : database_(database), family_(family) {
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
  return database_.read_error(status, family_);
}

}  // namespace vesta::rocks
