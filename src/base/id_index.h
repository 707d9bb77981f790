// Open-addressing index from content to table position, for interning: it stores positions and 32
// bits of the hash only, the content stays in the caller's table. Not thread-safe. Grows to at most
// 2^31 entries.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vesta {

class IdIndex {
 public:
  // The position of an entry with this hash for which `equal(position)` holds, or, when there is
  // none, what `insert()` returns: it must append the entry to the table and return its position.
  template <class Equal, class Insert>
  uint32_t find_or_insert(uint64_t hash, Equal&& equal, Insert&& insert) {
    if (slots_.empty() || (count_ + 1) * 4 > slots_.size() * 3) grow();
    const size_t mask = slots_.size() - 1;
    const auto tag = static_cast<uint32_t>(hash);
    size_t at = tag & mask;
    while (slots_[at].position_plus_one != 0) {
      if (slots_[at].tag == tag && equal(slots_[at].position_plus_one - 1))
        return slots_[at].position_plus_one - 1;
      at = (at + 1) & mask;
    }
    const uint32_t position = insert();
    slots_[at] = {tag, position + 1};
    ++count_;
    return position;
  }

  // The position of such an entry, or kNotFound.
  static constexpr uint32_t kNotFound = UINT32_MAX;
  template <class Equal>
  uint32_t find(uint64_t hash, Equal&& equal) const {
    if (slots_.empty()) return kNotFound;
    const size_t mask = slots_.size() - 1;
    const auto tag = static_cast<uint32_t>(hash);
    for (size_t at = tag & mask; slots_[at].position_plus_one != 0; at = (at + 1) & mask) {
      if (slots_[at].tag == tag && equal(slots_[at].position_plus_one - 1))
        return slots_[at].position_plus_one - 1;
    }
    return kNotFound;
  }

  // For many look-ups in a row, which would each wait for memory: prefetch() asks for what one with
  // this hash will touch, and some look-ups later likely() has the entry that it will most likely
  // compare with, or kNotFound.
  void prefetch(uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
  }
  uint32_t likely(uint64_t hash) const {
    return slots_.empty() ? kNotFound : slots_[hash & (slots_.size() - 1)].position_plus_one - 1;
  }

  size_t byte_size() const { return slots_.size() * sizeof(Slot); }

  void reserve(size_t entries) {
    while (slots_.size() * 3 < (entries + 1) * 4) grow();
  }

  void clear() {
    slots_.clear();
    count_ = 0;
  }

 private:
  // The lower bits of the tag are those that chose the slot, so that growing need not ask for the
  // hash; the others keep most comparisons away from the caller's table.
  struct Slot {
    uint32_t tag;
    uint32_t position_plus_one;
  };

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    const size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.position_plus_one == 0) continue;
      size_t at = slot.tag & mask;
      while (slots_[at].position_plus_one != 0) at = (at + 1) & mask;
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
};

}  // namespace vesta
