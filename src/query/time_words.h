// Points in time as people and clients write them. Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "store/engine.h"

namespace vesta {

// "now", "-1h", "now-30m", "now+1d2h"; units s, m or min, h, d, w, M or mon (30 days), y (365
// days), several in a row, and ms, us, ns;
// "2026-11-15T12:00:00Z", with a fraction, an offset, a space for the T, or the date alone;
// digits: 8 are a date, 13 are milliseconds, 16 microseconds, 19 nanoseconds, any other number
// seconds, with a fraction if there is one. kUsage for anything else; `what` names the parameter.
Result<int64_t> parse_time_word(std::string_view text, int64_t now_ns, std::string_view what);

// "90s", "1h30m", "5m": the same units, without a sign. A number alone is seconds.
Result<int64_t> parse_span_word(std::string_view text, std::string_view what);

// [from, to). Empty words are an hour ago and now. kUsage when it would be empty or backwards.
Result<TimeRange> parse_time_range(std::string_view from, std::string_view to, int64_t now_ns);

}  // namespace vesta
