// Scaling many numbers so that their sum stays right: what rounding takes from one number is given
// to the next. Values, not shared between threads.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace vesta {

// Multiplies by a factor. The sum of the results is within half a unit of the exact one, unless a
// result leaves the range of 64 bits and saturates.
class CarriedScaling {
 public:
  explicit CarriedScaling(double factor) : factor_(factor) {}

  int64_t operator()(int64_t value) {
    constexpr double kLimit = 9223372036854775808.0;  // 2^63
    const double exact = static_cast<double>(value) * factor_ + carry_;
    const double rounded = std::round(exact);
    if (std::fabs(rounded) < kLimit) {
      carry_ = exact - rounded;
      return static_cast<int64_t>(rounded);
    }
    // What does not fit is lost here, and must not spill into the other numbers.
    carry_ = 0;
    if (std::isnan(rounded)) return 0;
    return rounded > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
  }

 private:
  double factor_;
  double carry_ = 0;
};

// Divides by a count, exactly.
class CarriedDivision {
 public:
  // REQUIRES: divisor > 0
  explicit CarriedDivision(int64_t divisor) : divisor_(divisor) {}

  int64_t operator()(int64_t value) {
    const Wide exact = static_cast<Wide>(value) + carry_;
    const Wide half = divisor_ / 2;
    const Wide quotient = (exact >= 0 ? exact + half : exact - half) / divisor_;
    carry_ = exact - quotient * divisor_;
    return static_cast<int64_t>(quotient);
  }

 private:
  __extension__ using Wide = __int128;
  Wide divisor_;
  Wide carry_ = 0;
};

}  // namespace vesta
