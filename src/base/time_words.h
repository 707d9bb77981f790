// Points in time as people and clients write them. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace vesta {

// "now", "-1h", "now-30m", "now+1d2h"; units s or sec, m or min, h, d, w, M or mon (30 days), y
// (365 days), several in a row, and ms, us, ns;
// "2026-11-15T12:00:00Z", with a fraction, an offset, a space for the T, or the date alone;
// digits: 8 are a date, 13 are milliseconds, 16 microseconds, 19 nanoseconds, any other number
// seconds, with a fraction if there is one. kUsage for anything else; `what` names the parameter.
Result<int64_t> parse_time_word(std::string_view text, int64_t now_ns, std::string_view what);

// "90s", "1h30m", "1.5h", "250ms", "2 days": the same units and their long names, without a sign. A
// number alone is seconds.
std::optional<int64_t> parse_duration_ns(std::string_view text);

// The same for a parameter: kUsage when it is none, or 0.
Result<int64_t> parse_span_word(std::string_view text, std::string_view what);

}  // namespace vesta
