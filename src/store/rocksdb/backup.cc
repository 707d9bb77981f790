#include "store/rocksdb/backup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/utilities/backup_engine.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "store/rocksdb/private_directory.h"
#include "store/rocksdb/rocksdb_engine.h"

namespace vesta::rocks {
namespace {

Error backup_error(const std::string& directory, const rocksdb::Status& status) {
  return Error{ErrorCode::kIo, fmt::format("{}: {}", directory, status.ToString()),
               status.IsNoSpace() ? "free some space, and try again" : ""};
}

Error busy_error(const std::string& directory) {
  return Error{ErrorCode::kTooMany, fmt::format("{}: another backup is in progress", directory),
               "try again when it is done"};
}

}  // namespace

Status backup(Store& store, const std::string& directory) {
  if (!store.backup_mutex.try_lock()) return busy_error(directory);
  const MutexLock alone(store.backup_mutex, std::adopt_lock);
  if (const std::error_code failed = make_private_directory(directory)) {
    return Error{ErrorCode::kIo, fmt::format("{}: {}", directory, failed.message()),
                 "use a directory that the server can write to"};
  }
  // Another server may have been given the same folder for its backups.
  const UniqueFd lock(::open((directory + "/LOCK").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid())
    return Error{ErrorCode::kIo, fmt::format("{}: {}", directory, std::strerror(errno)), ""};
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return busy_error(directory);
  rocksdb::Env::Default()->SetAllowNonOwnerAccess(false).PermitUncheckedError();
  rocksdb::BackupEngine* raw = nullptr;
  rocksdb::BackupEngineOptions options(directory);
  options.sync = true;
  options.share_table_files = true;
  options.share_files_with_checksum = true;
  rocksdb::IOStatus status = rocksdb::BackupEngine::Open(options, rocksdb::Env::Default(), &raw);
  const std::unique_ptr<rocksdb::BackupEngine> engine(raw);
  if (!status.ok()) return backup_error(directory, status);
  rocksdb::CreateBackupOptions how;
  how.flush_before_backup = true;
  rocksdb::BackupID id = 0;
  status = engine->CreateNewBackup(how, &store.database->db(), &id);
  if (!status.ok()) return backup_error(directory, status);
  // The earlier one stays until this one can be read, files that both share included.
  status = engine->VerifyBackup(id, true);
  if (!status.ok()) {
    engine->DeleteBackup(id).PermitUncheckedError();
    Error error = backup_error(directory, status);
    error.message += "; the new backup was discarded, the previous one is intact";
    if (error.hint.empty()) error.hint = "check that disk, and make a backup with another name";
    return error;
  }
  // One is enough: a backup is to be restored from, not a history.
  status = engine->PurgeOldBackups(1);
  if (!status.ok()) return backup_error(directory, status);
  return {};
}

}  // namespace vesta::rocks

namespace vesta {

Status restore_backup(const std::string& backup_directory, const std::string& data_directory) {
  std::error_code failed;
  if (std::filesystem::exists(data_directory, failed) &&
      !std::filesystem::is_empty(data_directory, failed)) {
    return Error{ErrorCode::kUsage, fmt::format("{} is not empty", data_directory),
                 "restore into a new directory, then start the server with it"};
  }
  if (!std::filesystem::is_directory(backup_directory, failed)) {
    return Error{ErrorCode::kNotFound, fmt::format("{}: no such directory", backup_directory),
                 "use the directory of 'vesta backup'"};
  }
  rocksdb::BackupEngineReadOnly* raw = nullptr;
  rocksdb::IOStatus status = rocksdb::BackupEngineReadOnly::Open(
      rocksdb::BackupEngineOptions(backup_directory), rocksdb::Env::Default(), &raw);
  const std::unique_ptr<rocksdb::BackupEngineReadOnly> engine(raw);
  if (!status.ok()) return rocks::backup_error(backup_directory, status);
  rocksdb::Env::Default()->SetAllowNonOwnerAccess(false).PermitUncheckedError();
  if ((failed = rocks::make_private_directory(data_directory))) {
    return Error{ErrorCode::kIo, fmt::format("{}: {}", data_directory, failed.message()),
                 "restore into a writable directory"};
  }
  status = engine->RestoreDBFromLatestBackup(data_directory, data_directory);
  if (status.IsNotFound()) {
    return Error{ErrorCode::kNotFound, fmt::format("{}: contains no backup", backup_directory),
                 "use the directory of 'vesta backup'"};
  }
  if (!status.ok()) return rocks::backup_error(backup_directory, status);
  return {};
}

}  // namespace vesta
