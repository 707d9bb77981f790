// Speedscope's units and their numbers in Vesta's base units: whole nanoseconds, bytes, counts.
// Pure functions; the carry belongs to the caller.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/common/json_document.h"
#include "profile/carried_rounding.h"

namespace vesta {

enum class SpeedscopeKind : uint8_t { kTime, kBytes, kCount };

struct SpeedscopeUnit {
  SpeedscopeKind kind = SpeedscopeKind::kCount;
  int64_t to_base = 1;  // factor to nanoseconds
};

std::optional<SpeedscopeUnit> parse_speedscope_unit(std::string_view name);

// a - b, exact for integers; empty when it does not fit.
std::optional<JsonNumber> difference(const JsonNumber& a, const JsonNumber& b);

// The number in the base unit, fractions carried to the next; empty beyond 64 bits.
std::optional<int64_t> to_base_unit(const JsonNumber& number, int64_t factor,
                                    CarriedRounding& carry);

}  // namespace vesta
