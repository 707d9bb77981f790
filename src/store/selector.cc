#include "store/selector.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "base/utf8.h"

namespace vesta {
namespace {

re2::StringPiece piece(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

Result<LabelMatcher> LabelMatcher::make(std::string name, MatchOperator op, std::string value) {
  if (name.empty()) return Error{ErrorCode::kUsage, "a label name is missing", ""};
  LabelMatcher matcher;
  matcher.name_ = std::move(name);
  matcher.value_ = std::move(value);
  matcher.op_ = op;
  if (op == MatchOperator::kMatches || op == MatchOperator::kNotMatches) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_dot_nl(true);
    auto expression = std::make_shared<const RE2>(piece(matcher.value_), options);
    if (!expression->ok()) {
      return Error{ErrorCode::kUsage,
                   fmt::format("'{}' is not a valid regular expression: {}", matcher.value_,
                               expression->error()),
                   "use RE2 syntax; expressions match the whole value"};
    }
    matcher.expression_ = std::move(expression);
  }
  matcher.matches_empty_ = matcher.matches("");
  return matcher;
}

bool LabelMatcher::matches(std::string_view value) const {
  switch (op_) {
    case MatchOperator::kEqual:
      return value == value_;
    case MatchOperator::kNotEqual:
      return value != value_;
    case MatchOperator::kMatches:
      return RE2::FullMatch(piece(value), *expression_);
    case MatchOperator::kNotMatches:
      return !RE2::FullMatch(piece(value), *expression_);
  }
  return false;
}

bool matches(const Selector& selector, const Labels& labels) {
  return std::ranges::all_of(selector, [&](const LabelMatcher& matcher) {
    return matcher.matches(label_value(labels, matcher.name()));
  });
}

}  // namespace vesta
