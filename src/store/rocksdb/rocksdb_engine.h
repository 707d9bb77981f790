// The engine that servers run on: RocksDB in one directory. Everything that was acknowledged
// survives a kill and, with the default options, a power cut. README.md has the format on disk.
// Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "store/engine.h"
#include "store/rocksdb/options.h"

namespace vesta {

// kUnavailable when another process has the directory open, kUnsupported when its format is that of
// another version, kIo when it cannot be read.
Result<std::unique_ptr<Engine>> open_rocksdb_engine(const RocksdbOptions& options);

// Puts the latest backup of a directory that Engine::backup() wrote into a new or empty one, which
// can then be opened. kUsage when there is something in it already.
Status restore_backup(const std::string& backup_directory, const std::string& data_directory);

}  // namespace vesta
