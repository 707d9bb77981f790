// The last reading of each cumulative profile, so that the next one can be turned into what
// happened in between. Bounded by bytes: what was used longest ago goes first. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/hash.h"
#include "base/mutex.h"
#include "base/table_hash.h"
#include "ingest/counters.h"
#include "profile/profile.h"

namespace vesta {

class DeltaStore {
 public:
  DeltaStore(uint64_t max_bytes, IngestCounters& counters)
      : max_bytes_(max_bytes), counters_(counters) {}

  // One reading of a key at a time: hold it from find() until after put(), so that two readings are
  // not subtracted from the same one.
  [[nodiscard]] std::unique_lock<Mutex> lock(const Hash128& key) {
    return std::unique_lock(turns_[key.low % turns_.size()]);
  }

  // Null when there is none.
  std::shared_ptr<const ProfileBatch> find(const Hash128& key);
  void put(const Hash128& key, std::shared_ptr<const ProfileBatch> reading);

  uint64_t byte_size() const;

 private:
  struct Entry {
    Hash128 key;
    std::shared_ptr<const ProfileBatch> reading;
    uint64_t bytes = 0;
  };
  struct KeyHash {
    size_t operator()(const Hash128& key) const { return TableKeyHash()(key.low); }
  };

  const uint64_t max_bytes_;
  IngestCounters& counters_;
  std::array<Mutex, 64> turns_;
  mutable Mutex mutex_;
  std::list<Entry> by_use_ GUARDED_BY(mutex_);  // latest first
  std::unordered_map<Hash128, std::list<Entry>::iterator, KeyHash> index_ GUARDED_BY(mutex_);
  uint64_t bytes_ GUARDED_BY(mutex_) = 0;
};

// Roughly what the batch takes in memory.
uint64_t memory_of(const ProfileBatch& batch);

// Whether the profile's counters run since the start of the program, as those that Go's runtime
// writes do: allocations, contentions and delays, without a duration.
bool looks_cumulative(const Dictionary& dictionary, const Profile& profile);

// The first reading says nothing about counters; gauges stay.
void zero_counters(Profile& profile);

}  // namespace vesta
