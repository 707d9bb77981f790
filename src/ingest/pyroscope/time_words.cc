#include "ingest/pyroscope/time_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/utf8.h"

namespace vesta::pyroscope {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

Error no_time(std::string_view text) {
  return {ErrorCode::kUsage,
          fmt::format("'{}' is no time", replace_invalid_utf8(text.substr(0, 40))),
          "times are seconds, milliseconds, microseconds or nanoseconds since 1970, a date such as "
          "20240131, or now-1h"};
}

int64_t seconds_of_unit(std::string_view unit) {
  if (unit == "s" || unit == "sec") return 1;
  if (unit == "m" || unit == "min") return 60;
  if (unit == "h") return 3600;
  if (unit == "d") return 86'400;
  if (unit == "w") return 7 * 86'400;
  if (unit == "M" || unit == "mon") return 30 * 86'400;
  if (unit == "y") return 365 * 86'400;
  return 0;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "1h30m"
bool parse_span(std::string_view text, int64_t& seconds) {
  if (text.empty()) return false;
  while (!text.empty()) {
    int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || !is_digit(text.front())) return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    const auto letters = static_cast<size_t>(std::ranges::find_if(text, is_digit) - text.begin());
    const int64_t unit = seconds_of_unit(text.substr(0, letters));
    text.remove_prefix(letters);
    int64_t part = 0;
    if (unit == 0 || __builtin_mul_overflow(count, unit, &part) ||
        __builtin_add_overflow(seconds, part, &seconds))
      return false;
  }
  return true;
}

bool parse_date(std::string_view digits, int64_t& seconds) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  std::from_chars(digits.data(), digits.data() + 4, year);
  std::from_chars(digits.data() + 4, digits.data() + 6, month);
  std::from_chars(digits.data() + 6, digits.data() + 8, day);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok()) return false;
  seconds = std::chrono::sys_days(date).time_since_epoch().count() * int64_t{86'400};
  return true;
}

}  // namespace

Result<int64_t> parse_time(std::string_view text, int64_t now_ns) {
  if (text.starts_with("now")) {
    const std::string_view rest = text.substr(3);
    if (rest.empty()) return now_ns;
    int64_t seconds = 0;
    int64_t span_ns = 0;
    int64_t time_ns = 0;
    if ((rest.front() != '-' && rest.front() != '+') || !parse_span(rest.substr(1), seconds) ||
        __builtin_mul_overflow(seconds, rest.front() == '-' ? -kSecond : kSecond, &span_ns) ||
        __builtin_add_overflow(now_ns, span_ns, &time_ns))
      return no_time(text);
    return time_ns;
  }
  if (text.empty() || !std::ranges::all_of(text, is_digit)) return no_time(text);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return no_time(text);
  int64_t factor = kSecond;
  if (text.size() == 8 && !parse_date(text, number)) return no_time(text);
  if (text.size() == 13) factor = 1'000'000;
  if (text.size() == 16) factor = 1'000;
  if (text.size() == 19) factor = 1;
  int64_t time_ns = 0;
  if (__builtin_mul_overflow(number, factor, &time_ns)) return no_time(text);
  return time_ns;
}

}  // namespace vesta::pyroscope
