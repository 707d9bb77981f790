// Turns fractional values into integers without losing the fractions: the error of each rounding is
// carried to the next value, so a sum stays within half a unit of exact. Not thread-safe.
#pragma once

#include <cmath>
#include <cstdint>

namespace vesta {

class RoundingCarry {
 public:
  // A value that is not negative never becomes a negative integer.
  // REQUIRES: |value| < 2^62
  int64_t round(double value) {
    const double exact = value + carry_;
    const double rounded = std::floor(exact + 0.5);
    carry_ = exact - rounded;
    return static_cast<int64_t>(rounded);
  }

 private:
  double carry_ = 0;  // in [-0.5, 0.5)
};

}  // namespace vesta
