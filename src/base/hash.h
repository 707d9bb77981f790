// Fast, stable hashing: the same bytes give the same value on every machine and in every release,
// so that hashes can be stored. Pure functions.
#pragma once

#include <xxhash.h>

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace vesta {

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

inline uint64_t hash64(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

// REQUIRES: T has no padding bytes.
template <class T>
uint64_t hash64_of(std::span<const T> items) {
  static_assert(std::has_unique_object_representations_v<T>);
  return XXH3_64bits(items.data(), items.size_bytes());
}

inline Hash128 hash128(std::string_view bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {h.high64, h.low64};
}

}  // namespace vesta
