#include "config/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/time.h"
#include "base/time_words.h"
#include "base/units.h"
#include "config/findings.h"

namespace vesta::config {
namespace {

// The value as a whole multiple of the largest unit that allows it.
template <class T, size_t N>
std::string in_units(T value, const std::array<std::pair<T, std::string_view>, N>& units) {
  for (const auto& [factor, suffix] : units) {
    if (value >= factor && value % factor == 0) return fmt::format("{}{}", value / factor, suffix);
  }
  return std::to_string(value);
}

bool parse_fixed(std::string_view word, double& to) {
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, to, std::chars_format::fixed);
  return error == std::errc() && stop == end && std::isfinite(to);
}

}  // namespace

Error not_a(std::string_view word, std::string_view wanted, std::string hint) {
  return {ErrorCode::kUsage, fmt::format("'{}' is not {}", shown(word), wanted), std::move(hint)};
}

std::string duration_text(int64_t ns) {
  // A day's worth of hours reads better in hours, more do not.
  if (ns > 48 * 3600 * kSecond && ns % (86'400 * kSecond) == 0) {
    return fmt::format("{}d", ns / (86'400 * kSecond));
  }
  // A number alone would be seconds.
  if (ns == 0) return "0";
  static constexpr std::array<std::pair<int64_t, std::string_view>, 6> kUnits = {
      {{3600 * kSecond, "h"},
       {60 * kSecond, "m"},
       {kSecond, "s"},
       {1'000'000, "ms"},
       {1'000, "us"},
       {1, "ns"}}};
  return in_units(ns, kUnits);
}

std::string size_text(uint64_t bytes) {
  static constexpr std::array<std::pair<uint64_t, std::string_view>, 3> kUnits = {
      {{uint64_t{1} << 30, "GiB"}, {uint64_t{1} << 20, "MiB"}, {uint64_t{1} << 10, "KiB"}}};
  return in_units(bytes, kUnits);
}

Status Text::parse(std::string_view word, std::string& to) const {
  if (word.size() > kMaxBytes) return not_a(word, fmt::format("{} bytes or less", kMaxBytes));
  if (word.empty() && !may_be_empty) return Error{ErrorCode::kUsage, "the text is empty", {}};
  if (word.find('\0') != std::string_view::npos) return not_a(word, "text without zero bytes");
  to = word;
  return {};
}

Status Switch::parse(std::string_view word, bool& to) const {
  for (const std::string_view yes : {"true", "yes", "on", "1"}) {
    if (word == yes) return to = true, Status();
  }
  for (const std::string_view no : {"false", "no", "off", "0"}) {
    if (word == no) return to = false, Status();
  }
  return not_a(word, "true or false");
}

Result<uint64_t> Count::parse_in(std::string_view word, uint64_t up_to) const {
  uint64_t count = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
  if (error != std::errc() || end != word.data() + word.size()) {
    return not_a(word, "a whole number");
  }
  if (count < least || count > up_to) {
    return not_a(word, fmt::format("a number from {} to {}", least, up_to));
  }
  return count;
}

Status Duration::parse(std::string_view word, int64_t& to_ns) const {
  const auto ns = parse_duration_ns(word);
  if (!ns || *ns < 0) return not_a(word, "a duration, such as 30s or 1h");
  if (*ns < least_ns) return not_a(word, fmt::format("{} or more", duration_text(least_ns)));
  if (*ns > most_ns) return not_a(word, fmt::format("{} or less", duration_text(most_ns)));
  to_ns = *ns;
  return {};
}

Status Duration::parse(std::string_view word, std::chrono::milliseconds& to) const {
  int64_t ns = 0;
  VESTA_TRY(parse(word, ns));
  const auto parsed =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds(ns));
  if (parsed.count() == 0) return not_a(word, "a duration of a millisecond or more");
  to = parsed;
  return {};
}

Status Size::parse(std::string_view word, uint64_t& to) const {
  const auto bytes = parse_bytes(word);
  if (!bytes) return not_a(word, "a size, such as 64MiB");
  if (*bytes < least) return not_a(word, fmt::format("{} or more", size_text(least)));
  if (*bytes > most) return not_a(word, fmt::format("{} or less", size_text(most)));
  to = *bytes;
  return {};
}

Status Decimal::parse(std::string_view word, double& to) const {
  double value = 0;
  if (!parse_fixed(word, value) || value < 0) {
    return not_a(word, "a number that may have a fraction, such as 0.048");
  }
  if (value > most) return not_a(word, fmt::format("a number up to {}", text(most)));
  to = value;
  return {};
}

std::string Decimal::text(double value) const {
  return fmt::format("{}", value);
}

Status Share::parse(std::string_view word, double& to) const {
  std::string_view number = word;
  const bool is_percent = number.ends_with('%');
  if (is_percent) number.remove_suffix(1);
  while (number.ends_with(' ')) number.remove_suffix(1);
  double value = 0;
  if (!parse_fixed(number, value)) {
    return not_a(word, "a share, such as 1% or 0.01");
  }
  if (is_percent) value /= 100;
  if (value < least || value > most) {
    return not_a(word, fmt::format("a share from {} to {}", text(least), text(most)));
  }
  to = value;
  return {};
}

std::string Share::text(double value) const {
  return fmt::format("{:.6g}%", value * 100);
}

}  // namespace vesta::config
