// Ranges of time as people and clients write them (base/time_words.h). Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "store/engine.h"

namespace vesta {

// [from, to). Empty words are an hour ago and now. kUsage when it would be empty or backwards.
Result<TimeRange> parse_time_range(std::string_view from, std::string_view to, int64_t now_ns);

}  // namespace vesta
