#include "base/units.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

namespace vesta {
namespace {

struct Scale {
  std::string_view suffix;
  double to_base;
};

constexpr std::array kTimeScales = {Scale{"ns", 1}, Scale{"us", 1e3}, Scale{"ms", 1e6},
                                    Scale{"s", 1e9}, Scale{"hrs", 3600e9}};
constexpr std::array kMemoryScales = {Scale{"B", 1}, Scale{"kB", 1024.0},
                                      Scale{"MB", 1024.0 * 1024}, Scale{"GB", 1024.0 * 1024 * 1024},
                                      Scale{"TB", 1024.0 * 1024 * 1024 * 1024}};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string two_decimals(double value) {
  std::string text = fmt::format("{:.2f}", value);
  if (text.ends_with(".00")) text.resize(text.size() - 3);
  return text == "-0" ? "0" : text;
}

template <size_t N>
const Scale& largest_fitting(const std::array<Scale, N>& scales, double base_value) {
  const Scale* best = &scales[0];
  for (const Scale& scale : scales) {
    if (std::fabs(base_value) >= scale.to_base) best = &scale;
  }
  return *best;
}

struct NamedUnit {
  std::string_view name;
  Unit unit;
};

constexpr double kKilo = 1024;
constexpr std::array kUnits = {
    NamedUnit{"ns", {UnitKind::kTime, 1}},
    NamedUnit{"nanosecond", {UnitKind::kTime, 1}},
    NamedUnit{"us", {UnitKind::kTime, 1e3}},
    NamedUnit{"µs", {UnitKind::kTime, 1e3}},
    NamedUnit{"μs", {UnitKind::kTime, 1e3}},
    NamedUnit{"microsecond", {UnitKind::kTime, 1e3}},
    NamedUnit{"ms", {UnitKind::kTime, 1e6}},
    NamedUnit{"millisecond", {UnitKind::kTime, 1e6}},
    NamedUnit{"s", {UnitKind::kTime, 1e9}},
    NamedUnit{"sec", {UnitKind::kTime, 1e9}},
    NamedUnit{"second", {UnitKind::kTime, 1e9}},
    NamedUnit{"min", {UnitKind::kTime, 60e9}},
    NamedUnit{"minute", {UnitKind::kTime, 60e9}},
    NamedUnit{"m", {UnitKind::kTime, 60e9}},
    NamedUnit{"h", {UnitKind::kTime, 3600e9}},
    NamedUnit{"hr", {UnitKind::kTime, 3600e9}},
    NamedUnit{"hour", {UnitKind::kTime, 3600e9}},
    NamedUnit{"d", {UnitKind::kTime, 86400e9}},
    NamedUnit{"day", {UnitKind::kTime, 86400e9}},
    NamedUnit{"b", {UnitKind::kMemory, 1}},
    NamedUnit{"byte", {UnitKind::kMemory, 1}},
    NamedUnit{"by", {UnitKind::kMemory, 1}},
    NamedUnit{"kb", {UnitKind::kMemory, kKilo}},
    NamedUnit{"kib", {UnitKind::kMemory, kKilo}},
    NamedUnit{"kilobyte", {UnitKind::kMemory, kKilo}},
    NamedUnit{"kbyte", {UnitKind::kMemory, kKilo}},
    NamedUnit{"mb", {UnitKind::kMemory, kKilo* kKilo}},
    NamedUnit{"mib", {UnitKind::kMemory, kKilo* kKilo}},
    NamedUnit{"megabyte", {UnitKind::kMemory, kKilo* kKilo}},
    NamedUnit{"mbyte", {UnitKind::kMemory, kKilo* kKilo}},
    NamedUnit{"gb", {UnitKind::kMemory, kKilo* kKilo* kKilo}},
    NamedUnit{"gib", {UnitKind::kMemory, kKilo* kKilo* kKilo}},
    NamedUnit{"gigabyte", {UnitKind::kMemory, kKilo* kKilo* kKilo}},
    NamedUnit{"gbyte", {UnitKind::kMemory, kKilo* kKilo* kKilo}},
    NamedUnit{"tb", {UnitKind::kMemory, kKilo* kKilo* kKilo* kKilo}},
    NamedUnit{"tib", {UnitKind::kMemory, kKilo* kKilo* kKilo* kKilo}},
    NamedUnit{"count", {UnitKind::kCount, 1}},
    NamedUnit{"sample", {UnitKind::kCount, 1}},
    NamedUnit{"object", {UnitKind::kCount, 1}},
    NamedUnit{"1", {UnitKind::kCount, 1}},
};

const NamedUnit* find_unit(std::string_view name) {
  for (const NamedUnit& unit : kUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

// The scale to print a base value of this kind in; nullptr where values are printed as they are.
const Scale* scale_for(UnitKind kind, double base_value) {
  if (kind == UnitKind::kTime) return &largest_fitting(kTimeScales, base_value);
  if (kind == UnitKind::kMemory) return &largest_fitting(kMemoryScales, base_value);
  return nullptr;
}

struct NumberAndSuffix {
  double number = 0;
  std::string_view suffix;
  std::string_view rest;
};

// The leading "1.5ms" of the text, with what follows it; nothing when it does not start with a
// digit.
std::optional<NumberAndSuffix> take_quantity(std::string_view text) {
  NumberAndSuffix out;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.number);
  if (error != std::errc() || out.number < 0 || !std::isfinite(out.number)) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  size_t letters = 0;
  while (letters < text.size() && !std::isdigit(static_cast<unsigned char>(text[letters])))
    ++letters;
  out.suffix = text.substr(0, letters);
  out.rest = text.substr(letters);
  return out;
}

}  // namespace

Unit parse_unit(std::string_view name) {
  const std::string folded = lower(name);
  if (const NamedUnit* unit = find_unit(folded)) return unit->unit;
  if (folded.size() > 2 && folded.ends_with('s')) {
    if (const NamedUnit* unit = find_unit(std::string_view(folded).substr(0, folded.size() - 1))) {
      return unit->unit;
    }
  }
  return {};
}

std::string_view best_unit(int64_t value, std::string_view unit) {
  const Unit parsed = parse_unit(unit);
  const Scale* scale = scale_for(parsed.kind, static_cast<double>(value) * parsed.to_base);
  return scale == nullptr ? std::string_view() : scale->suffix;
}

std::string_view best_unit_for_range(int64_t smallest, int64_t largest, std::string_view unit) {
  const std::string_view small_unit = best_unit(smallest, unit);
  const std::string_view large_unit = best_unit(largest, unit);
  const double low = std::fabs(static_cast<double>(smallest));
  if (small_unit == large_unit || low * 100 >= std::fabs(static_cast<double>(largest)))
    return small_unit;
  return best_unit(static_cast<int64_t>(std::min(low * 100, 9e18)), unit);
}

std::string format_value(int64_t value, std::string_view unit) {
  const Unit parsed = parse_unit(unit);
  if (parsed.kind == UnitKind::kCount) return fmt::format("{}", value);
  const double base = static_cast<double>(value) * parsed.to_base;
  const Scale* scale = scale_for(parsed.kind, base);
  if (scale == nullptr)
    return unit.empty() ? fmt::format("{}", value) : fmt::format("{} {}", value, unit);
  if (value == 0) return "0";
  return two_decimals(base / scale->to_base) + std::string(scale->suffix);
}

std::string format_value_in(int64_t value, std::string_view unit, std::string_view target) {
  const Unit from = parse_unit(unit);
  const Unit to = parse_unit(target);
  if (target.empty() || from.kind != to.kind || to.kind == UnitKind::kOther)
    return format_value(value, unit);
  std::string text = two_decimals(static_cast<double>(value) * from.to_base / to.to_base);
  if (to.kind == UnitKind::kCount || text == "0") return text;
  for (const Scale& scale : kTimeScales) {
    if (to.kind == UnitKind::kTime && scale.to_base == to.to_base)
      return text + std::string(scale.suffix);
  }
  for (const Scale& scale : kMemoryScales) {
    if (to.kind == UnitKind::kMemory && scale.to_base == to.to_base)
      return text + std::string(scale.suffix);
  }
  return text + std::string(target);
}

std::string format_percent(double part, double whole) {
  const double percent = whole == 0 ? 0 : part / whole * 100;
  if (std::fabs(percent) < 0.005) return "0%";
  if (std::fabs(percent) >= 99.95 && std::fabs(percent) <= 100.05)
    return percent < 0 ? "-100%" : "100%";
  // Three figures are enough for a share; more would suggest a precision that samples do not have.
  if (std::fabs(percent) >= 1000) return fmt::format("{:.0f}%", percent);
  return fmt::format("{:.2f}%", percent);
}

std::string format_count(uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string format_span(int64_t ns) {
  struct Step {
    double seconds;
    std::string_view name;
  };
  constexpr std::array<Step, 6> kSteps = {
      {{1e-6, "µs"}, {1e-3, "ms"}, {1, "s"}, {60, "min"}, {3600, "h"}, {86'400, "d"}}};
  const double seconds = static_cast<double>(ns) / 1e9;
  const Step* fitting = kSteps.data();
  // 59.8 min read better as 1 h.
  for (const Step& step : kSteps)
    if (seconds >= step.seconds * 0.995) fitting = &step;
  const double value = seconds / fitting->seconds;
  const double rounded = value >= 9.95 ? std::round(value) : std::round(value * 10) / 10;
  return fmt::format("{} {}", rounded, fitting->name);
}

std::optional<uint64_t> parse_bytes(std::string_view text) {
  const auto part = take_quantity(text);
  if (!part || !part->rest.empty()) return std::nullopt;
  Unit unit = part->suffix.empty() ? Unit{UnitKind::kMemory, 1} : parse_unit(part->suffix);
  // "2m", "2g", "2k" mean bytes here, as they do to dd and java.
  if (unit.kind != UnitKind::kMemory) unit = parse_unit(std::string(part->suffix) + "b");
  if (unit.kind != UnitKind::kMemory || part->number * unit.to_base > 9e18) return std::nullopt;
  return static_cast<uint64_t>(part->number * unit.to_base);
}

}  // namespace vesta
