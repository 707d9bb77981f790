#include "base/time_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>

#include "base/text.h"
#include "base/time.h"
#include "base/units.h"
#include "base/utf8.h"

namespace vesta {
namespace {

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

struct LongUnit {
  std::string_view name;
  int64_t ns;
};
constexpr std::array kLongUnits = {
    LongUnit{"w", 7 * kDay},
    LongUnit{"M", 30 * kDay},
    LongUnit{"mon", 30 * kDay},
    LongUnit{"y", 365 * kDay},
};

std::optional<int64_t> unit_ns(std::string_view name) {
  for (const LongUnit& unit : kLongUnits) {
    if (unit.name == name) return unit.ns;
  }
  const Unit unit = parse_unit(name);
  if (unit.kind != UnitKind::kTime) return std::nullopt;
  return static_cast<int64_t>(unit.to_base);
}

// A number and its unit, "1.5 h"; moves past it. Without a unit, the number is of `plain_ns`.
std::optional<int64_t> take_span(std::string_view& text, std::optional<int64_t> plain_ns) {
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  int64_t fraction = 0;
  if (take(text, '.')) {
    const auto given = take_fraction(text);
    if (!given) return std::nullopt;
    fraction = *given;
  }
  while (take(text, ' ')) continue;
  const std::string_view name = text.substr(0, text.find_first_of("0123456789 "));
  text.remove_prefix(name.size());
  const std::optional<int64_t> unit = name.empty() ? plain_ns : unit_ns(name);
  if (!unit) return std::nullopt;
  const auto whole = scaled(*number, *unit);
  // A unit is less than a second, or whole seconds.
  const int64_t part = *unit < kSecond ? fraction * *unit / kSecond : fraction * (*unit / kSecond);
  int64_t sum = 0;
  if (!whole || __builtin_add_overflow(*whole, part, &sum)) return std::nullopt;
  return sum;
}

// "1h30m"
std::optional<int64_t> parse_spans(std::string_view text, std::optional<int64_t> plain_ns) {
  if (text.empty()) return std::nullopt;
  int64_t sum = 0;
  while (!text.empty()) {
    const auto part = take_span(text, plain_ns);
    if (!part || __builtin_add_overflow(sum, *part, &sum)) return std::nullopt;
    while (take(text, ' ')) continue;
  }
  return sum;
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
  int64_t time_ns = 0;
  if (!ns || __builtin_add_overflow(*ns, fraction, &time_ns)) return std::nullopt;
  return time_ns;
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
  int64_t time_ns = 0;
  if (!seconds || !fraction || !rest.empty() ||
      __builtin_add_overflow(*seconds, *fraction, &time_ns))
    return std::nullopt;
  return time_ns;
}

std::optional<int64_t> parse_relative(std::string_view text, int64_t now_ns) {
  if (text.starts_with("now")) text.remove_prefix(3);
  if (text.empty()) return now_ns;
  const bool back = text[0] == '-';
  if (!back && text[0] != '+') return std::nullopt;
  const auto span = parse_spans(text.substr(1), std::nullopt);
  if (!span) return std::nullopt;
  int64_t time_ns = 0;
  if (!__builtin_add_overflow(now_ns, back ? -*span : *span, &time_ns)) return time_ns;
  return back ? INT64_MIN : INT64_MAX;
}

// Whatever a client sent, short and as text.
std::string for_message(std::string_view text) {
  return replace_invalid_utf8(text.substr(0, 40));
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
  return Error{ErrorCode::kUsage,
               fmt::format("{}: '{}' is not a valid time", what, for_message(text)),
               "use -1h, now-30m, 2026-11-15T12:00:00Z, or Unix time in s, ms, us or ns"};
}

std::optional<int64_t> parse_duration_ns(std::string_view text) {
  return parse_spans(text, kSecond);
}

Result<int64_t> parse_span_word(std::string_view text, std::string_view what) {
  const auto span = parse_duration_ns(text);
  if (span && *span > 0) return *span;
  return Error{ErrorCode::kUsage,
               fmt::format("{}: '{}' is not a valid duration", what, for_message(text)),
               "use a duration such as 15s, 5m or 1h30m"};
}

}  // namespace vesta
