// How a RocksDB engine is opened. Plain data.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace rocksdb {
class Env;
}

namespace vesta {

struct RocksdbOptions {
  std::string directory;  // made if it is not there

  // When a write is safe from a power cut: before it is acknowledged, writers that wait sharing one
  // fsync; or within `sync_interval`, for disks whose fsync is slow. A killed process loses nothing
  // either way.
  enum class Sync { kEveryWrite, kInterval };
  Sync sync = Sync::kEveryWrite;
  std::chrono::milliseconds sync_interval{200};

  // Whether answers may come from roll-ups; without, only from profiles as they were written. For
  // tests: both must be the same.
  bool use_rollups = true;
  // How long after its end an hour is rolled up. What comes later makes it be done again.
  std::chrono::minutes rollup_delay{10};

  // A thread of its own for roll-ups, retention, SyncWAL and recovery from a full disk. Without it,
  // maintain() and apply_retention() are up to the caller.
  bool background = true;
  std::chrono::milliseconds background_interval{1000};
  // A recovery that takes longer does not end by itself: RocksDB waits for a flush that nobody will
  // do (facebook/rocksdb issue 15030), or the disk takes a write and never answers.
  std::chrono::milliseconds recovery_limit{120'000};
  // How often the disk gets back what was deleted.
  std::chrono::milliseconds reclaim_interval{10'000};

  uint64_t dictionary_bytes = uint64_t{400} << 20;  // of trees and hashes in memory
  uint64_t block_cache_bytes = uint64_t{64} << 20;
  uint64_t memtable_bytes = uint64_t{64} << 20;

  // Room on the disk that is set aside, so that data can still be deleted when it is full; a
  // twentieth of the disk at most.
  uint64_t reserve_bytes = uint64_t{64} << 20;

  UnixClock clock = unix_now;
  std::function<void(std::string_view message)> warn;  // what an operator should know
  rocksdb::Env* env = nullptr;                         // for tests; must outlive the engine
};

}  // namespace vesta
