// Times as Pyroscope's clients write them: numbers whose length tells the unit, dates, and words
// such as "now-1h30m". Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace vesta::pyroscope {

// Unix nanoseconds. 8 digits are a date, 13 milliseconds, 16 microseconds, 19 nanoseconds, all else
// seconds. kUsage for anything that is no time.
Result<int64_t> parse_time(std::string_view text, int64_t now_ns);

}  // namespace vesta::pyroscope
