#include "formats/speedscope/value_scale.h"

#include <cmath>

namespace vesta {

std::optional<SpeedscopeUnit> parse_speedscope_unit(std::string_view name) {
  if (name == "none") return SpeedscopeUnit{SpeedscopeKind::kCount, 1};
  if (name == "nanoseconds") return SpeedscopeUnit{SpeedscopeKind::kTime, 1};
  if (name == "microseconds") return SpeedscopeUnit{SpeedscopeKind::kTime, 1'000};
  if (name == "milliseconds") return SpeedscopeUnit{SpeedscopeKind::kTime, 1'000'000};
  if (name == "seconds") return SpeedscopeUnit{SpeedscopeKind::kTime, 1'000'000'000};
  if (name == "bytes") return SpeedscopeUnit{SpeedscopeKind::kBytes, 1};
  return std::nullopt;
}

std::optional<JsonNumber> difference(const JsonNumber& a, const JsonNumber& b) {
  JsonNumber result;
  if (!a.is_integer || !b.is_integer) {
    result.is_integer = false;
    result.real = a.real - b.real;
    return result;
  }
  if (__builtin_sub_overflow(a.integer, b.integer, &result.integer)) return std::nullopt;
  result.real = static_cast<double>(result.integer);
  return result;
}

std::optional<int64_t> to_base_unit(const JsonNumber& number, int64_t factor,
                                    CarriedRounding& carry) {
  if (number.is_integer) {
    int64_t scaled = 0;
    if (__builtin_mul_overflow(number.integer, factor, &scaled)) return std::nullopt;
    return scaled;
  }
  const double scaled = number.real * static_cast<double>(factor);
  constexpr double kLimit = 4611686018427387904.0;  // 2^62
  if (!(std::abs(scaled) < kLimit)) return std::nullopt;
  return carry(scaled);
}

}  // namespace vesta
