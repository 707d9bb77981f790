#include "formats/pprof/id_map.h"

#include "base/table_hash.h"

namespace vesta {

bool IdMap::add_out_of_order(uint64_t id) {
  if (in_order_) {
    in_order_ = false;
    flat_.resize(entries_ + entries_ / 2 + 2);
    for (uint32_t known = 1; known <= count_; ++known) flat_[known] = known;
  }
  const auto position = static_cast<uint32_t>(++count_);
  if (id >= flat_.size()) return add_far(id, position);
  if (flat_[id] != 0) return false;
  flat_[id] = position;
  return true;
}

bool IdMap::add_far(uint64_t id, uint32_t position) {
  if ((far_count_ + 1) * 3 > far_.size() * 2) {
    if (far_.empty()) seed_ = table_secret().start;
    std::vector<Far> old(far_.empty() ? 16 : far_.size() * 2);
    old.swap(far_);
    for (const Far& entry : old) {
      if (entry.position != 0) far_[far_slot(entry.id)] = entry;
    }
  }
  Far& slot = far_[far_slot(id)];
  if (slot.position != 0) return false;
  slot = {id, position};
  ++far_count_;
  return true;
}

size_t IdMap::far_slot(uint64_t id) const {
  uint64_t hash = (id ^ seed_) * 0x9E3779B97F4A7C15ull;
  hash = (hash ^ (hash >> 32) ^ seed_) * 0xD6E8FEB86659FD93ull;
  hash ^= hash >> 32;
  const size_t mask = far_.size() - 1;
  size_t at = hash & mask;
  while (far_[at].position != 0 && far_[at].id != id) at = (at + 1) & mask;
  return at;
}

}  // namespace vesta
