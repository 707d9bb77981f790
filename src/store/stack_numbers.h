// Which number a stack has, by the hash of its content: what a write of known stacks needs, without
// their tree. Owns the hashes, some 30 bytes for each stack. Not thread-safe.
#pragma once

#include <algorithm>

#include "base/hash.h"
#include "base/id_index.h"
#include "base/table_hash.h"
#include "store/append_log.h"
#include "store/stack_tree.h"

namespace vesta {

class StackNumbers {
 public:
  static constexpr StackNumber kUnknown{IdIndex::kNotFound};

  size_t size() const { return hashes_.size(); }
  const Hash128& hash(StackNumber stack) const { return hashes_[stack.index()]; }
  size_t byte_size() const { return index_.byte_size() + hashes_.byte_size(); }

  // kUnknown when there is none.
  StackNumber find(const Hash128& hash) const {
    return StackNumber(index_.find(slot(hash), [&](uint32_t at) { return hashes_[at] == hash; }));
  }
  // The same for many: finds `count` hashes, hash_at(i), and calls found(i, number) for each. The
  // table of a large service is not in the cache, so the look-ups wait for memory together.
  template <class HashAt, class Found>
  void find_all(size_t count, HashAt&& hash_at, Found&& found) const {
    constexpr size_t kAtOnce = 16;
    uint64_t slots[kAtOnce];
    for (size_t first = 0; first < count; first += kAtOnce) {
      const size_t here = std::min(kAtOnce, count - first);
      for (size_t i = 0; i < here; ++i) {
        slots[i] = slot(hash_at(first + i));
        index_.prefetch(slots[i]);
      }
      for (size_t i = 0; i < here; ++i) {
        const uint32_t likely = index_.likely(slots[i]);
        if (likely < hashes_.size()) __builtin_prefetch(&hashes_[likely]);
      }
      for (size_t i = 0; i < here; ++i) {
        const Hash128& hash = hash_at(first + i);
        found(first + i,
              StackNumber(index_.find(slots[i], [&](uint32_t at) { return hashes_[at] == hash; })));
      }
    }
  }
  // The number of that stack; the next free one if it is new.
  StackNumber find_or_add(const Hash128& hash) {
    return StackNumber(index_.find_or_insert(
        slot(hash), [&](uint32_t at) { return hashes_[at] == hash; },
        [&] { return static_cast<uint32_t>(hashes_.push_back(hash)); }));
  }

 private:
  // The content is the client's: its hash must not decide where in the table a stack comes to lie.
  static uint64_t slot(const Hash128& hash) { return TableHash().add(hash.low).value(); }

  IdIndex index_;
  AppendLog<Hash128> hashes_;  // in chunks: a vector would have room for twice as many
};

}  // namespace vesta
