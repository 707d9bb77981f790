// The hash of a list of hashes, for content that is hashed part by part: each is multiplied by a
// factor of its place and added, and the sum is mixed. A sum of hashes that are spread over all
// values is spread as well, so this costs a fraction of hashing their bytes. Stable, as base/hash.h
// is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/hash.h"

namespace vesta {

class HashSum {
 public:
  // The next place.
  void add(const Hash128& hash) {
    if (place_ == kPlaces) fold();
    const Factor& factor = kFactors[place_++];
    low_ += hash.low * factor.low;
    high_ += hash.high * factor.high;
  }
  // A plain number is not spread over all values and must not stand alone: it counts in both
  // halves.
  void add(uint64_t number) { add(Hash128{number, number}); }

  Hash128 value() const { return {mix(high_ + place_), mix(low_ + place_)}; }

 private:
  struct Factor {
    uint64_t high;
    uint64_t low;
  };
  static constexpr size_t kPlaces = 64;

  // SplitMix64, whose values are as good as random; odd, so that no bit of a hash is lost.
  static constexpr uint64_t spread(uint64_t value) {
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
    value = (value ^ value >> 27) * 0x94D049BB133111EB;
    return value ^ value >> 31;
  }
  static constexpr std::array<Factor, kPlaces> factors() {
    std::array<Factor, kPlaces> out{};
    uint64_t state = 0;
    for (Factor& factor : out) {
      factor.high = spread(state += 0x9E3779B97F4A7C15) | 1;
      factor.low = spread(state += 0x9E3779B97F4A7C15) | 1;
    }
    return out;
  }
  static const std::array<Factor, kPlaces> kFactors;

  // One to one, so that what was different stays so; and no sum itself, so that sums of sums do not
  // depend on which list a part is in.
  static uint64_t mix(uint64_t sum) {
    sum = (sum ^ sum >> 32) * 0xD6E8FEB86659FD93;
    return sum ^ sum >> 29;
  }
  // Places start again, after what came before as one hash.
  void fold() {
    const Hash128 before = value();
    *this = {};
    add(before);
  }

  // So that the empty list is not zero: digits of pi, as any.
  uint64_t high_ = 0x243F6A8885A308D3;
  uint64_t low_ = 0x13198A2E03707344;
  size_t place_ = 0;
};

inline constexpr std::array<HashSum::Factor, HashSum::kPlaces> HashSum::kFactors = factors();

}  // namespace vesta
