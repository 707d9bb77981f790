#include "profile/filter_expressions.h"

#include <fmt/format.h>

#include <algorithm>

#include "profile/label_filter.h"

namespace vesta {
namespace {

using Expression = FilterExpressions::Expression;

Status compile_each(const std::vector<std::string>& texts, const std::string& option, size_t most,
                    std::vector<Expression>& out) {
  for (const std::string& text : texts) {
    if (text.empty()) continue;
    if (out.size() == most) {
      return Error{ErrorCode::kUsage, fmt::format("{}: more than {} expressions", option, most),
                   "combine several into one: a|b matches either"};
    }
    VESTA_ASSIGN(Expression expression, compile_regex(text, option));
    out.push_back(std::move(expression));
  }
  return {};
}

Status compile_as_one(const std::vector<std::string>& texts, const std::string& option,
                      Expression& out) {
  // Each alone first: a message about the whole would show what nobody wrote, and "a)" and "(b"
  // make a valid one together.
  std::vector<Expression> each;
  VESTA_TRY(compile_each(texts, option, FilterExpressions::kMaxTogether, each));
  if (each.empty()) return {};
  if (each.size() == 1) {
    out = std::move(each.front());
    return {};
  }
  std::string any;
  for (const Expression& expression : each) {
    if (!any.empty()) any += '|';
    any += "(?:" + expression->pattern() + ")";
  }
  VESTA_ASSIGN(out, compile_regex(any, option));
  return {};
}

}  // namespace

std::string_view simplified_name(std::string_view name) {
  if (name.starts_with('.')) name.remove_prefix(1);
  for (size_t at = name.find('('); at != std::string_view::npos; at = name.find('(', at + 1)) {
    // These parentheses belong to the name itself.
    if (name.substr(at).starts_with("(anonymous namespace)")) continue;
    if (name.substr(0, at).ends_with("operator") && name.substr(at).starts_with("()")) {
      ++at;
      continue;
    }
    return name.substr(0, at);
  }
  return name;
}

std::string FilterExpressions::spelt(std::string name, Spelling spelling) {
  if (spelling == Spelling::kParameter) return name;
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

Result<FilterExpressions> FilterExpressions::compile(const FrameFilters& filters,
                                                     Spelling spelling) {
  const auto named = [&](std::string name) { return spelt(std::move(name), spelling); };
  FilterExpressions out;
  VESTA_TRY(compile_each(filters.focus, named("focus"), kMaxSeparate, out.focus));
  VESTA_TRY(compile_as_one(filters.ignore, named("ignore"), out.ignore));
  VESTA_TRY(compile_as_one(filters.hide, named("hide"), out.hide));
  VESTA_TRY(compile_each(filters.show, named("show"), kMaxSeparate, out.show));
  VESTA_TRY(compile_each(filters.show_from, named("show_from"), kMaxSeparate, out.show_from));
  VESTA_TRY(compile_as_one(filters.prune_from, named("prune_from"), out.prune_from));
  return out;
}

}  // namespace vesta
