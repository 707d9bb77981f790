#include "store/engines/engines.h"

#include <algorithm>
#include <array>

#include "store/memory/memory_engine.h"
#include "store/rocksdb/rocksdb_engine.h"

namespace vesta {
namespace {

Result<std::unique_ptr<Engine>> open_rocksdb(const EngineSettings& settings) {
  RocksdbOptions options;
  options.directory = settings.directory;
  options.warn = settings.warn;
  return open_rocksdb_engine(options);
}

Result<std::unique_ptr<Engine>> open_memory(const EngineSettings& /*settings*/) {
  return std::unique_ptr<Engine>(make_memory_engine());
}

constexpr auto kEngines = std::to_array<EngineKind>({
    {.name = "rocksdb", .is_durable = true, .open = open_rocksdb, .restore = restore_backup},
    {.name = "memory", .open = open_memory},
});

const EngineKind& first(bool is_durable) {
  return *std::ranges::find(kEngines, is_durable, &EngineKind::is_durable);
}

}  // namespace

std::span<const EngineKind> engine_kinds() {
  return kEngines;
}
const EngineKind& server_engine() {
  return first(true);
}
const EngineKind& temporary_engine() {
  return first(false);
}

}  // namespace vesta
