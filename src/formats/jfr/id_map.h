// From the 64-bit ids of a recording to positions in a table, by open addressing. Owns its slots.
// Not thread-safe for writing.
#pragma once

#include <cstdint>
#include <vector>

#include "base/table_hash.h"

namespace vesta::jfr {

inline uint64_t mix(uint64_t value) {
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(value) * uint64_t{0x9e3779b97f4a7c15};
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

class IdMap {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t find(int64_t id) const {
    if (slots_.empty()) return kNone;
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash_of(id) & mask;; at = (at + 1) & mask) {
      if (slots_[at].position == kNone) return kNone;
      if (slots_[at].id == id) return slots_[at].position;
    }
  }

  // False, and nothing changed, when the id is there already.
  bool insert(int64_t id, uint32_t position) {
    if ((count_ + 1) * 4 > slots_.size() * 3) grow();
    Slot& slot = slot_of(id);
    if (slot.position != kNone) return false;
    slot = {id, position};
    ++count_;
    return true;
  }

 private:
  struct Slot {
    int64_t id = 0;
    uint32_t position = kNone;
  };

  uint64_t hash_of(int64_t id) const { return mix(static_cast<uint64_t>(id) ^ secret_); }

  Slot& slot_of(int64_t id) {
    const size_t mask = slots_.size() - 1;
    size_t at = hash_of(id) & mask;
    while (slots_[at].position != kNone && slots_[at].id != id) at = (at + 1) & mask;
    return slots_[at];
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.position != kNone) slot_of(slot.id) = slot;
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
  uint64_t secret_ = table_secret().start;
};

}  // namespace vesta::jfr
