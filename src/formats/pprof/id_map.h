// Where an entry with a given pprof id stands in its table. Ids are any 64-bit numbers but 0;
// nearly every writer counts from 1, so a flat table serves, and a hash table only the ids beyond
// it. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vesta {

class IdMap {
 public:
  // Up to `entries` ids will be added.
  explicit IdMap(size_t entries) : flat_(entries + entries / 2 + 2) {}

  // The next id belongs to the next position, from 1. False when the id was there before.
  // REQUIRES: id != 0
  bool add(uint64_t id) {
    const uint32_t position = ++count_;
    in_order_ &= id == position;
    if (id >= flat_.size()) return add_far(id, position);
    if (flat_[id] != 0) return false;
    flat_[id] = position;
    return true;
  }

  // The position of the id, or 0.
  uint32_t find(uint64_t id) const {
    if (id < flat_.size()) return flat_[id];
    return far_.empty() ? 0 : far_[far_slot(id)].position;
  }

  // Each id is its own position.
  bool in_order() const { return in_order_; }
  uint32_t count() const { return count_; }

 private:
  struct Far {
    uint64_t id = 0;
    uint32_t position = 0;  // 0: the slot is free
  };

  bool add_far(uint64_t id, uint32_t position);
  // Where the id is, or the free slot where it would be.
  size_t far_slot(uint64_t id) const;

  std::vector<uint32_t> flat_;
  std::vector<Far> far_;  // open addressing, a power of two
  size_t far_count_ = 0;
  uint64_t seed_ = 0;
  uint32_t count_ = 0;
  bool in_order_ = true;
};

}  // namespace vesta
