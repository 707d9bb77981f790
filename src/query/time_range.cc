#include "query/time_range.h"

#include "base/time_words.h"

namespace vesta {

Result<TimeRange> parse_time_range(std::string_view from, std::string_view to, int64_t now_ns) {
  TimeRange range;
  VESTA_ASSIGN(range.end_ns,
               to.empty() ? Result<int64_t>(now_ns) : parse_time_word(to, now_ns, "to"));
  VESTA_ASSIGN(range.start_ns, parse_time_word(from.empty() ? "-1h" : from, now_ns, "from"));
  if (range.empty()) {
    return Error{ErrorCode::kUsage, "the time range is empty: 'from' must be before 'to'",
                 "the default is the last hour"};
  }
  return range;
}

}  // namespace vesta
