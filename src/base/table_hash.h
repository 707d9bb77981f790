// Hashing for tables that live in memory only. Every process has its own secret, so that nobody can
// prepare input whose entries all fall into one slot; values must therefore never be stored or
// decide an order. For hashes that last, see base/hash.h. Thread-safe.
#pragma once

#include <xxhash.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace vesta {

struct TableSecret {
  std::array<uint64_t, 24> bytes;  // 192 bytes, the size of xxHash's own
  uint64_t start;
  uint64_t step;
};
const TableSecret& table_secret();

inline uint64_t table_hash(const void* bytes, size_t size) {
  const TableSecret& secret = table_secret();
  return XXH3_64bits_withSecret(bytes, size, secret.bytes.data(), sizeof secret.bytes);
}

inline uint64_t table_hash(std::string_view text) {
  return table_hash(text.data(), text.size());
}

// REQUIRES: T has no padding bytes.
template <class T>
uint64_t table_hash_of(std::span<const T> items) {
  static_assert(std::has_unique_object_representations_v<T>);
  return table_hash(items.data(), items.size_bytes());
}

// The same for a handful of numbers that are not next to each other in memory: a multiplication
// each, folded so that every bit counts.
class TableHash {
 public:
  TableHash() : secret_(table_secret()), hash_(secret_.start) {}

  TableHash& add(uint64_t value) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(hash_ ^ value) * secret_.step;
    hash_ = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    return *this;
  }
  uint64_t value() const { return hash_; }

 private:
  const TableSecret& secret_;
  uint64_t hash_;
};

// For std::unordered_map and _set whose keys come from outside: their own hash is known to
// everybody.
struct TableKeyHash {
  size_t operator()(std::string_view text) const { return table_hash(text); }
  template <std::integral T>
  size_t operator()(T number) const {
    return TableHash().add(static_cast<uint64_t>(number)).value();
  }
};

}  // namespace vesta
