#include "ingest/delta_store.h"

#include <algorithm>
#include <array>

#include "base/mutex.h"

namespace vesta {
namespace {

template <class T>
uint64_t bytes_of(const std::vector<T>& items) {
  return items.capacity() * sizeof(T);
}

}  // namespace

uint64_t memory_of(const ProfileBatch& batch) {
  const Dictionary& d = batch.dictionary;
  uint64_t bytes = sizeof(ProfileBatch) + d.strings.byte_size() + d.strings.size() * 4 +
                   bytes_of(d.functions) + bytes_of(d.mappings) + bytes_of(d.locations) +
                   bytes_of(d.links) + d.lines.item_count() * sizeof(Line) + d.lines.size() * 4 +
                   d.stacks.item_count() * sizeof(LocationId) + d.stacks.size() * 4 +
                   d.label_sets.item_count() * sizeof(Label) + d.label_sets.size() * 4;
  for (const Profile& p : batch.profiles) {
    bytes += sizeof(Profile) + bytes_of(p.samples.stacks) + bytes_of(p.samples.labels) +
             bytes_of(p.samples.links) + bytes_of(p.samples.times_ns) + bytes_of(p.samples.values);
  }
  return bytes;
}

std::shared_ptr<const ProfileBatch> DeltaStore::find(const Hash128& key) {
  const MutexLock lock(mutex_);
  const auto at = index_.find(key);
  if (at == index_.end()) return nullptr;
  by_use_.splice(by_use_.begin(), by_use_, at->second);
  return at->second->reading;
}

void DeltaStore::put(const Hash128& key, std::shared_ptr<const ProfileBatch> reading) {
  const uint64_t bytes = memory_of(*reading) + sizeof(Entry);
  const MutexLock lock(mutex_);
  if (const auto at = index_.find(key); at != index_.end()) {
    bytes_ -= at->second->bytes;
    by_use_.erase(at->second);
    index_.erase(at);
  }
  by_use_.push_front({key, std::move(reading), bytes});
  index_[key] = by_use_.begin();
  bytes_ += bytes;
  while (bytes_ > max_bytes_ && !by_use_.empty()) {
    bytes_ -= by_use_.back().bytes;
    index_.erase(by_use_.back().key);
    by_use_.pop_back();
    counters_.note(IngestNote::kDeltaEvictions);
  }
}

uint64_t DeltaStore::byte_size() const {
  const MutexLock lock(mutex_);
  return bytes_;
}

bool looks_cumulative(const Dictionary& dictionary, const Profile& profile) {
  constexpr std::array<std::string_view, 4> kCounters = {"alloc_objects", "alloc_space",
                                                         "contentions", "delay"};
  if (profile.duration_ns != 0) return false;
  bool any = false;
  for (const SampleType& type : profile.sample_types) {
    if (type.temporality == Temporality::kInstant) continue;
    const std::string_view name = dictionary.string(type.type);
    if (std::ranges::find(kCounters, name) == kCounters.end()) return false;
    any = true;
  }
  return any;
}

void zero_counters(Profile& profile) {
  const size_t types = profile.sample_types.size();
  for (size_t type = 0; type < types; ++type) {
    if (profile.sample_types[type].temporality == Temporality::kInstant) continue;
    for (size_t row = 0; row < profile.samples.size(); ++row)
      profile.samples.values[row * types + type] = 0;
  }
}

}  // namespace vesta
