#include "query/time_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace vesta {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDay = 86'400 * kSecond;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

// Digits at the front, no sign; moves past them.
std::optional<int64_t> take_number(std::string_view& text) {
  int64_t number = 0;
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// Exactly that many digits.
std::optional<int64_t> take_digits(std::string_view& text, size_t count) {
  if (text.size() < count || !all_digits(text.substr(0, count))) return std::nullopt;
  std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return take_number(digits);
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

struct SpanUnit {
  std::string_view name;
  int64_t ns;
};
// Longer names first where one is the start of another.
constexpr std::array kSpanUnits = {
    SpanUnit{"ns", 1},         SpanUnit{"us", 1'000},       SpanUnit{"µs", 1'000},
    SpanUnit{"ms", 1'000'000}, SpanUnit{"mon", 30 * kDay},  SpanUnit{"min", 60 * kSecond},
    SpanUnit{"s", kSecond},    SpanUnit{"m", 60 * kSecond}, SpanUnit{"h", 3600 * kSecond},
    SpanUnit{"d", kDay},       SpanUnit{"w", 7 * kDay},     SpanUnit{"M", 30 * kDay},
    SpanUnit{"y", 365 * kDay},
};

// "1h30m"
std::optional<int64_t> parse_span(std::string_view text) {
  if (text.empty()) return std::nullopt;
  int64_t sum = 0;
  while (!text.empty()) {
    const auto number = take_number(text);
    const auto* unit = std::ranges::find_if(
        kSpanUnits, [&](const SpanUnit& u) { return text.starts_with(u.name); });
    if (!number || unit == kSpanUnits.end()) return std::nullopt;
    text.remove_prefix(unit->name.size());
    int64_t part = 0;
    if (__builtin_mul_overflow(*number, unit->ns, &part) ||
        __builtin_add_overflow(sum, part, &sum)) {
      return std::nullopt;
    }
  }
  return sum;
}

std::optional<int64_t> scaled(int64_t number, int64_t factor) {
  int64_t out = 0;
  if (__builtin_mul_overflow(number, factor, &out)) return std::nullopt;
  return out;
}

bool is_leap(int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

// Days since 1970-01-01; none when there is no such day.
std::optional<int64_t> day_number(int64_t year, int64_t month, int64_t day) {
  constexpr std::array<int64_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year < 1 || month < 1 || month > 12 || day < 1) return std::nullopt;
  const int64_t length =
      kDays[static_cast<size_t>(month - 1)] + (month == 2 && is_leap(year) ? 1 : 0);
  if (day > length) return std::nullopt;
  const int64_t before = year - 1;
  int64_t days = before * 365 + before / 4 - before / 100 + before / 400 - 719'162;
  for (int64_t m = 1; m < month; ++m)
    days += kDays[static_cast<size_t>(m - 1)] + (m == 2 && is_leap(year) ? 1 : 0);
  return days + day - 1;
}

// What stands after a dot, as nanoseconds; moves past it.
std::optional<int64_t> take_fraction(std::string_view& text) {
  int64_t ns = 0;
  int64_t place = kSecond / 10;
  size_t digits = 0;
  for (; !text.empty() && is_digit(text[0]); text.remove_prefix(1), ++digits) {
    ns += (text[0] - '0') * place;
    place /= 10;
  }
  if (digits == 0) return std::nullopt;
  return ns;
}

// "Z", "+02:00", "-0730", or nothing: seconds east of Greenwich.
std::optional<int64_t> take_offset(std::string_view& text) {
  if (text.empty() || take(text, 'Z') || take(text, 'z')) return 0;
  const bool west = text.starts_with('-');
  if (!take(text, '+') && !take(text, '-')) return std::nullopt;
  const auto hours = take_digits(text, 2);
  take(text, ':');
  const auto minutes = take_digits(text, 2);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return (*hours * 3600 + *minutes * 60) * (west ? -1 : 1);
}

std::optional<int64_t> parse_calendar(std::string_view text) {
  const auto year = take_digits(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_digits(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take_digits(text, 2);
  if (!day) return std::nullopt;
  const auto days = day_number(*year, *month, *day);
  if (!days) return std::nullopt;
  int64_t seconds = *days * 86'400;
  int64_t fraction = 0;
  if (!text.empty()) {
    if (!take(text, 'T') && !take(text, 't') && !take(text, ' ')) return std::nullopt;
    const auto hour = take_digits(text, 2);
    if (!hour || !take(text, ':')) return std::nullopt;
    const auto minute = take_digits(text, 2);
    if (!minute) return std::nullopt;
    int64_t second = 0;
    if (take(text, ':')) {
      const auto given = take_digits(text, 2);
      if (!given) return std::nullopt;
      second = *given;
      if (take(text, '.')) {
        const auto part = take_fraction(text);
        if (!part) return std::nullopt;
        fraction = *part;
      }
    }
    const auto offset = take_offset(text);
    // 60 is a leap second.
    if (!offset || !text.empty() || *hour > 23 || *minute > 59 || second > 60) return std::nullopt;
    seconds += *hour * 3600 + *minute * 60 + second - *offset;
  }
  const auto ns = scaled(seconds, kSecond);
  if (!ns) return std::nullopt;
  return saturating_add(*ns, fraction);
}

std::optional<int64_t> parse_unix(std::string_view text) {
  const std::string_view whole = text.substr(0, text.find('.'));
  if (!all_digits(whole)) return std::nullopt;
  std::string_view rest = text;
  if (whole.size() == text.size() && whole.size() == 8) {
    const auto year = take_digits(rest, 4);
    const auto month = take_digits(rest, 2);
    const auto day = take_digits(rest, 2);
    const auto days = day_number(*year, *month, *day);
    return days ? scaled(*days, kDay) : std::nullopt;
  }
  const auto number = take_number(rest);
  if (!number) return std::nullopt;
  if (rest.empty()) {
    if (whole.size() == 13) return scaled(*number, 1'000'000);
    if (whole.size() == 16) return scaled(*number, 1'000);
    if (whole.size() == 19) return number;
    return scaled(*number, kSecond);
  }
  const auto seconds = scaled(*number, kSecond);
  if (!take(rest, '.')) return std::nullopt;
  const auto fraction = take_fraction(rest);
  if (!seconds || !fraction || !rest.empty()) return std::nullopt;
  return saturating_add(*seconds, *fraction);
}

std::optional<int64_t> parse_relative(std::string_view text, int64_t now_ns) {
  if (text.starts_with("now")) text.remove_prefix(3);
  if (text.empty()) return now_ns;
  const bool back = text[0] == '-';
  if (!back && text[0] != '+') return std::nullopt;
  const auto span = parse_span(text.substr(1));
  if (!span) return std::nullopt;
  return back ? saturating_subtract(now_ns, *span) : saturating_add(now_ns, *span);
}

}  // namespace

Result<int64_t> parse_time_word(std::string_view text, int64_t now_ns, std::string_view what) {
  std::optional<int64_t> time;
  if (text.starts_with("now") || text.starts_with('-') || text.starts_with('+')) {
    time = parse_relative(text, now_ns);
  } else {
    time = parse_unix(text);
    if (!time) time = parse_calendar(text);
  }
  if (time) return *time;
  return Error{ErrorCode::kUsage, fmt::format("{}: '{}' is not a time", what, text),
               "write -1h, now-30m, 2026-11-15T12:00:00Z, or Unix seconds, ms, us or ns"};
}

Result<int64_t> parse_span_word(std::string_view text, std::string_view what) {
  auto span = parse_span(text);
  if (!span) {
    std::string_view rest = text;
    if (const auto seconds = parse_unix(text); seconds && take_number(rest) && text.size() < 12)
      span = text.size() == 8 ? scaled(*take_number(text), kSecond) : seconds;
  }
  if (span && *span > 0) return *span;
  return Error{ErrorCode::kUsage, fmt::format("{}: '{}' is not a length of time", what, text),
               "write 15s, 5m, 1h30m"};
}

Result<TimeRange> parse_time_range(std::string_view from, std::string_view to, int64_t now_ns) {
  TimeRange range;
  VESTA_ASSIGN(range.end_ns,
               to.empty() ? Result<int64_t>(now_ns) : parse_time_word(to, now_ns, "to"));
  VESTA_ASSIGN(range.start_ns, parse_time_word(from.empty() ? "-1h" : from, now_ns, "from"));
  if (range.empty()) {
    return Error{ErrorCode::kUsage, "the range of time is empty: 'from' is not before 'to'",
                 "without them, the last hour is taken"};
  }
  return range;
}

}  // namespace vesta
