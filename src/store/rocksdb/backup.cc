#include "store/rocksdb/backup.h"

#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/utilities/backup_engine.h>

#include <filesystem>

#include "store/rocksdb/rocksdb_engine.h"

namespace vesta::rocks {
namespace {

Error backup_error(const std::string& directory, const rocksdb::Status& status) {
  return Error{ErrorCode::kIo, fmt::format("{}: {}", directory, status.ToString()),
               status.IsNoSpace() ? "make room, and try again" : ""};
}

}  // namespace

Status backup(Store& store, const std::string& directory) {
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed) {
    return Error{ErrorCode::kIo, fmt::format("{}: {}", directory, failed.message()),
                 "the directory must be one that the server can write to"};
  }
  rocksdb::BackupEngine* raw = nullptr;
  rocksdb::BackupEngineOptions options(directory);
  options.sync = true;
  options.share_table_files = true;
  options.share_files_with_checksum = true;
  rocksdb::IOStatus status = rocksdb::BackupEngine::Open(options, rocksdb::Env::Default(), &raw);
  const std::unique_ptr<rocksdb::BackupEngine> engine(raw);
  if (!status.ok()) return backup_error(directory, status);
  status = engine->CreateNewBackup(&store.database->db(), true);
  if (!status.ok()) return backup_error(directory, status);
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
    return Error{ErrorCode::kUsage, fmt::format("{}: there is something in it", data_directory),
                 "restore into a new directory, then start the server with it"};
  }
  if (!std::filesystem::is_directory(backup_directory, failed)) {
    return Error{ErrorCode::kNotFound, fmt::format("{}: no such directory", backup_directory),
                 "it is the one that was given to 'vesta backup'"};
  }
  rocksdb::BackupEngineReadOnly* raw = nullptr;
  rocksdb::IOStatus status = rocksdb::BackupEngineReadOnly::Open(
      rocksdb::BackupEngineOptions(backup_directory), rocksdb::Env::Default(), &raw);
  const std::unique_ptr<rocksdb::BackupEngineReadOnly> engine(raw);
  if (!status.ok()) return rocks::backup_error(backup_directory, status);
  std::filesystem::create_directories(data_directory, failed);
  status = engine->RestoreDBFromLatestBackup(data_directory, data_directory);
  if (status.IsNotFound()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: there is no backup in it", backup_directory),
                 "it is the directory that was given to 'vesta backup'"};
  }
  if (!status.ok()) return rocks::backup_error(backup_directory, status);
  return {};
}

}  // namespace vesta
