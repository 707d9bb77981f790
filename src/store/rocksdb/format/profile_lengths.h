// How long the profiles of a service are at most, so that a question about a range knows how far
// back a profile may start that reaches into it. By powers of two, each of which is a key of its
// own in the store: writes that overtake each other keep all of them. Plain value.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "store/time_spread.h"

namespace vesta::rocks {

class ProfileLengths {
 public:
  // n: up to 2^n ns. 0 where no time is covered: nothing need be known then.
  static uint8_t class_of(int64_t duration_ns) {
    const int64_t length = std::clamp<int64_t>(duration_ns, 0, kMostSpreadNs);
    if (length == 0) return 0;
    const auto width = static_cast<uint8_t>(std::bit_width(static_cast<uint64_t>(length - 1)));
    return std::max(width, uint8_t{1});
  }
  bool contains(uint8_t length) const { return length == 0 || (classes_ >> length & 1) != 0; }
  void add(uint8_t length) {
    if (length != 0 && length < 64) classes_ |= uint64_t{1} << length;
  }
  void add(const ProfileLengths& other) { classes_ |= other.classes_; }
  int64_t longest_ns() const {
    if (classes_ == 0) return 0;
    const auto longest = static_cast<unsigned>(std::bit_width(classes_)) - 1;
    return std::min(int64_t{1} << std::min(longest, 62U), kMostSpreadNs);
  }
  // Calls visit(n) for each.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (uint8_t length = 1; length < 64; ++length)
      if (contains(length)) visit(length);
  }

 private:
  uint64_t classes_ = 0;
};

}  // namespace vesta::rocks
