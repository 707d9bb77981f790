// Turning quantities into text for people, and back. Base units are nanoseconds, bytes and counts.
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vesta {

// What a unit name of a profile measures.
enum class UnitKind { kTime, kMemory, kCount, kOther };

struct Unit {
  UnitKind kind = UnitKind::kOther;
  double to_base = 1;  // factor to nanoseconds or bytes
};

// Understands the spellings that profiles use: nanoseconds, ns, microseconds, us, µs, ms, seconds,
// s, minutes, hours, bytes, B, kB, KiB, MB, GB (powers of 1024, as pprof has them), count, samples,
// objects …
Unit parse_unit(std::string_view name);

// "1.23s", "45.60ms", "12MB", "1234": scaled to the largest unit that keeps at least one whole
// digit, two decimals unless both are zero, as `go tool pprof` prints values.
std::string format_value(int64_t value, std::string_view unit);

// The short name of the unit that format_value would choose: "ms", "MB"; empty for counts.
std::string_view best_unit(int64_t value, std::string_view unit);

// One unit for a whole column, so that its figures compare at a glance: fine enough for the
// smallest value, coarser where that would make the largest unreadable.
std::string_view best_unit_for_range(int64_t smallest, int64_t largest, std::string_view unit);

// The same in the unit named by `target` ("ms", "MB"); a target of another kind falls back to
// format_value.
std::string format_value_in(int64_t value, std::string_view unit, std::string_view target);

// 12.34 -> "12.34%"; 100 -> "100%". `part` of 0 of `whole` 0 is "0%".
std::string format_percent(double part, double whole);

// 1234567 -> "1,234,567"
std::string format_count(uint64_t count);

// A length of time in words, two digits of it: "58 s", "8 min", "1.5 h", "30 d".
std::string format_span(int64_t ns);

// "128kb", "2GiB", "100" -> bytes, powers of 1024.
std::optional<uint64_t> parse_bytes(std::string_view text);

}  // namespace vesta
