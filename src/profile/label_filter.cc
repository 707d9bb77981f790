#include "profile/label_filter.h"

#include <fmt/format.h>

#include <charconv>

namespace vesta {

Result<std::shared_ptr<RE2>> compile_regex(std::string_view expression, std::string_view option) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(16 << 20);
  auto regex =
      std::make_shared<RE2>(re2::StringPiece(expression.data(), expression.size()), options);
  if (!regex->ok()) {
    return Error{ErrorCode::kUsage,
                 fmt::format("{}: '{}' is not a valid regular expression: {}", option, expression,
                             regex->error()),
                 "use RE2 syntax; escape special characters with a backslash"};
  }
  return regex;
}

namespace {

struct Quantity {
  int64_t number = 0;
  std::string_view unit;
};

// The leading "-5", "128kb" of the text, which is moved past it.
std::optional<Quantity> take_quantity(std::string_view& text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  size_t end = text.starts_with('+') || text.starts_with('-') ? 1 : 0;
  const size_t digits = end;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end == digits) return std::nullopt;
  Quantity out;
  const size_t begin = text[0] == '+' ? 1 : 0;
  const auto parsed = std::from_chars(text.data() + begin, text.data() + end, out.number);
  if (parsed.ec != std::errc()) return std::nullopt;
  const size_t unit = end;
  while (end < text.size() && is_letter(text[end])) ++end;
  out.unit = text.substr(unit, end - unit);
  text.remove_prefix(end);
  return out;
}

// Units of time and memory convert into each other; all others are just words.
bool converts(const Unit& unit) {
  return unit.kind == UnitKind::kTime || unit.kind == UnitKind::kMemory;
}

// pprof's rule for a number in one unit, measured in another: words are not looked at, so a number
// without a real unit counts as being in the wanted one. Nothing when the two do not go together.
std::optional<double> measured_in(const Unit& wanted, int64_t number, const Unit& unit) {
  if (!converts(unit)) return static_cast<double>(number);
  if (unit.kind != wanted.kind) return std::nullopt;
  return static_cast<double>(number) * unit.to_base / wanted.to_base;
}

}  // namespace

std::optional<LabelFilter::Range> LabelFilter::parse_range(std::string_view text) {
  // The same shapes as pprof: "10", "10:", ":10", "10:20", each number with an optional unit. The
  // first unit holds for both.
  const bool is_open_below = text.starts_with(':');
  if (is_open_below) text.remove_prefix(1);
  const auto first = take_quantity(text);
  if (!first) return std::nullopt;
  Range range;
  range.unit = parse_unit(first->unit);
  const auto number = static_cast<double>(first->number);
  if (is_open_below) {
    range.high = number;
    return text.empty() ? std::optional(range) : std::nullopt;
  }
  range.low = number;
  if (text.empty()) {
    range.high = number;
    return range;
  }
  if (!text.starts_with(':')) return std::nullopt;
  text.remove_prefix(1);
  if (text.empty()) return range;
  const auto second = take_quantity(text);
  if (!second || !text.empty()) return std::nullopt;
  range.high = measured_in(range.unit, second->number, parse_unit(second->unit));
  return range.high ? std::optional(range) : std::nullopt;
}

Result<LabelFilter> LabelFilter::compile(std::string_view expression, std::string_view option) {
  LabelFilter filter;
  if (const size_t equals = expression.find('='); equals != std::string_view::npos) {
    if (equals > 0) filter.key_ = std::string(expression.substr(0, equals));
    expression.remove_prefix(equals + 1);
  }
  filter.range_ = parse_range(expression);
  if (filter.range_) return filter;
  while (true) {
    const size_t comma = expression.find(',');
    VESTA_ASSIGN(auto regex, compile_regex(expression.substr(0, comma), option));
    filter.expressions_.push_back(std::move(regex));
    if (comma == std::string_view::npos) return filter;
    expression.remove_prefix(comma + 1);
  }
}

void LabelFilter::infer_units(const Dictionary& d) {
  if (!range_) return;
  for (size_t i = 1; i < d.label_sets.size(); ++i) {
    for (const Label& label : d.label_sets[LabelSetId(i)]) {
      if (label.kind == LabelKind::kNumber && label.unit)
        units_.try_emplace(std::string(d.string(label.key)), parse_unit(d.string(label.unit)));
    }
  }
}

bool LabelFilter::in_range(const Dictionary& d, const Label& label) const {
  if (label.kind != LabelKind::kNumber) return false;
  const std::string_view key = d.string(label.key);
  if (key_ && key != *key_) return false;
  // A label without a unit is measured as others of its key are, or in what its name says
  // ("bytes").
  Unit unit;
  if (label.unit) {
    unit = parse_unit(d.string(label.unit));
  } else if (const auto known = units_.find(std::string(key)); known != units_.end()) {
    unit = known->second;
  } else {
    unit = parse_unit(key == "request" || key == "alignment" ? "bytes" : key);
  }
  const auto value = measured_in(range_->unit, label.number, unit);
  return value && (!range_->low || *value >= *range_->low) &&
         (!range_->high || *value <= *range_->high);
}

bool LabelFilter::matches(const Dictionary& d, std::span<const Label> labels) const {
  if (range_) {
    for (const Label& label : labels) {
      if (in_range(d, label)) return true;
    }
    return false;
  }
  const auto text_matches = [&](const RE2& regex) {
    for (const Label& label : labels) {
      if (label.kind != LabelKind::kString) continue;
      const std::string_view value = d.string(label.text);
      if (key_) {
        if (d.string(label.key) == *key_ &&
            RE2::PartialMatch(re2::StringPiece(value.data(), value.size()), regex))
          return true;
      } else if (RE2::PartialMatch(fmt::format("{}:{}", d.string(label.key), value), regex)) {
        return true;
      }
    }
    return false;
  };
  // With a key, any of the expressions will do; without one, all of them must be met: pprof's rule.
  for (const auto& regex : expressions_) {
    const bool met = text_matches(*regex);
    if (key_ && met) return true;
    if (!key_ && !met) return false;
  }
  return !key_;
}

}  // namespace vesta
