// A table by places in code, flat in memory: most look-ups of the naming thread go through one.
// Values are kept in the order in which they came and move when more do. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "agent/stream/resolved_samples.h"
#include "base/id_index.h"

namespace vesta::agent {

template <class Value>
class AddressMap {
 public:
  // Null when there is none. Valid until the next add().
  const Value* find(const CodeAddress& address) const {
    const uint32_t at = index_.find(
        hash_of(address), [&](uint32_t position) { return entries_[position].first == address; });
    return at == IdIndex::kNotFound ? nullptr : &entries_[at].second;
  }

  // One that is there already stays. Valid until the next add().
  const Value& add(const CodeAddress& address, Value value) {
    const uint32_t at = index_.find_or_insert(
        hash_of(address), [&](uint32_t position) { return entries_[position].first == address; },
        [&] {
          entries_.emplace_back(address, std::move(value));
          return static_cast<uint32_t>(entries_.size() - 1);
        });
    return entries_[at].second;
  }

  size_t size() const { return entries_.size(); }
  size_t byte_size() const {
    return entries_.capacity() * sizeof(entries_[0]) + index_.byte_size();
  }

 private:
  // Addresses are chosen by who is profiled: the hash has this process's secret in it.
  static uint64_t hash_of(const CodeAddress& address) {
    const uint64_t owner = uint64_t{address.owner} << 32 | static_cast<uint32_t>(address.kind);
    return TableHash().add(address.address).add(owner).value();
  }

  std::vector<std::pair<CodeAddress, Value>> entries_;
  IdIndex index_;
};

}  // namespace vesta::agent
