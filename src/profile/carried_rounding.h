// Turning many numbers into integers so that their sum stays right: what rounding takes from one
// number is given to the next. Values, not shared between threads.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace vesta {

// Rounds fractions. The sum of the results is within half a unit of the exact one, unless a result
// leaves the range of 64 bits and saturates. A value that is not negative never becomes a negative
// integer.
class CarriedRounding {
 public:
  int64_t operator()(double value) {
    constexpr double kLimit = 9223372036854775808.0;  // 2^63
    const double exact = value + carry_;
    // Not std::round, which would turn the -0.5 that a half may leave behind into -1.
    const double rounded = std::floor(exact + 0.5);
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
  double carry_ = 0;  // in [-0.5, 0.5)
};

// Multiplies by a factor.
class CarriedScaling {
 public:
  explicit CarriedScaling(double factor) : factor_(factor) {}

  int64_t operator()(int64_t value) { return rounding_(static_cast<double>(value) * factor_); }

 private:
  double factor_;
  CarriedRounding rounding_;
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
