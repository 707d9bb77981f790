#include <stdexcept>

#include "store/rocksdb/rocksdb_engine.h"
#include "store/testing/engine_suite.h"
#include "store/testing/model_suite.h"
#include "testing/temporary_folder.h"

namespace vesta::test {
namespace {

std::unique_ptr<Engine> opened(const RocksdbOptions& options) {
  auto engine = open_rocksdb_engine(options);
  if (!engine) throw std::runtime_error(engine.error().message);
  return std::move(engine).value();
}

class OnDisk final : public EngineUnderTest {
 public:
  explicit OnDisk(RocksdbOptions options) : options_(std::move(options)) {
    options_.directory = directory_.path() + "/data";
    options_.background = false;
    options_.sync_interval = std::chrono::milliseconds(10);
    engine_ = opened(options_);
  }

  Engine& engine() override { return *engine_; }
  void reopen() override {
    engine_.reset();
    engine_ = opened(options_);
  }
  EngineAbilities abilities() const override {
    EngineAbilities abilities;
    abilities.backup = true;
    abilities.restore = [this](const std::string& backup) {
      RocksdbOptions options = options_;
      options.directory = directory_.path() + "/restored";
      std::filesystem::remove_all(options.directory);
      if (const Status restored = restore_backup(backup, options.directory); !restored.ok())
        throw std::runtime_error(restored.error().message);
      return opened(options);
    };
    return abilities;
  }

 private:
  TemporaryFolder directory_;
  RocksdbOptions options_;
  std::unique_ptr<Engine> engine_;
};

EngineFactory factory(std::string name, void (*change)(RocksdbOptions&)) {
  return {std::move(name), [change] {
            RocksdbOptions options;
            options.sync = RocksdbOptions::Sync::kInterval;
            change(options);
            return std::make_unique<OnDisk>(options);
          }};
}

const auto kEngines =
    testing::Values(factory("rocksdb", [](RocksdbOptions&) {}),
                    // Every dictionary is loaded again each time, every batch is soon in a file.
                    factory("little_memory", [](RocksdbOptions& options) {
                      options.dictionary_bytes = 0;
                      options.memtable_bytes = 64 << 10;
                      options.block_cache_bytes = 64 << 10;
                      options.sync = RocksdbOptions::Sync::kEveryWrite;
                    }));

INSTANTIATE_TEST_SUITE_P(Rocksdb, EngineSuite, kEngines, engine_name);
INSTANTIATE_TEST_SUITE_P(Rocksdb, ModelSuite, kEngines, engine_name);

}  // namespace
}  // namespace vesta::test
