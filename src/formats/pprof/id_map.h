// Where an entry with a given pprof id stands in its table. Ids are any 64-bit numbers but 0;
// nearly every writer counts from 1, so ids in order need no table, other small ones a flat table,
// and only the ids beyond it a hash table. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vesta {

class IdMap {
 public:
  // Up to `entries` ids will be added.
  explicit IdMap(size_t entries) : entries_(entries) {}

  // The next id belongs to the next position, from 1. False when the id was there before.
  // REQUIRES: id != 0
  bool add(uint64_t id) {
    if (in_order_ && id == count_ + 1) {
      ++count_;
      return true;
    }
    return add_out_of_order(id);
  }

  // The position of the id, or 0.
  uint32_t find(uint64_t id) const {
    if (in_order_) return id <= count_ ? static_cast<uint32_t>(id) : 0;
    if (id < flat_.size()) return flat_[id];
    return far_.empty() ? 0 : far_[far_slot(id)].position;
  }

  // Each id is its own position.
  bool in_order() const { return in_order_; }
  uint32_t count() const { return static_cast<uint32_t>(count_); }

 private:
  struct Far {
    uint64_t id = 0;
    uint32_t position = 0;  // 0: the slot is free
  };

  bool add_out_of_order(uint64_t id);
  bool add_far(uint64_t id, uint32_t position);
  // Where the id is, or the free slot where it would be.
  size_t far_slot(uint64_t id) const;

  size_t entries_;
  std::vector<uint32_t> flat_;  // empty as long as ids are in order
  std::vector<Far> far_;        // open addressing, a power of two
  size_t far_count_ = 0;
  uint64_t seed_ = 0;
  uint64_t count_ = 0;
  bool in_order_ = true;
};

}  // namespace vesta
