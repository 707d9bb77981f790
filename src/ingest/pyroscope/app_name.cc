#include "ingest/pyroscope/app_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "formats/common/line_reader.h"

namespace vesta::pyroscope {
namespace {

constexpr std::string_view kHint =
    "use a name such as app.cpu{region=eu,pod=a}, with letters, digits and _ . - / in the "
    "application";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == '/';
}

Error name_error(std::string_view what, std::string_view text) {
  return {ErrorCode::kInvalidInput,
          fmt::format("name: {}: '{}'", what, replace_invalid_utf8(text.substr(0, 80))),
          std::string(kHint)};
}

}  // namespace

Result<LabelPairs> parse_bare_labels(std::string_view text) {
  text = trim(text);
  if (text.starts_with('{')) text.remove_prefix(1);
  if (text.ends_with('}')) text.remove_suffix(1);
  LabelPairs labels;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view pair = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return name_error("a label without a value", pair);
    const std::string_view key = trim(pair.substr(0, equals));
    const std::string_view value = trim(pair.substr(equals + 1));
    if (key.empty() || !std::ranges::all_of(key, is_word))
      return name_error("not a valid label name", pair);
    if (value.find_first_of("{}") != std::string_view::npos)
      return name_error("a brace in the value of a label", pair);
    if (key.starts_with("__")) continue;
    const auto known = std::ranges::find(labels, key, &LabelPairs::value_type::first);
    if (known == labels.end()) {
      labels.emplace_back(key, value);
    } else {
      known->second = value;
    }
  }
  return labels;
}

Result<AppName> parse_app_name(std::string_view text) {
  constexpr size_t kMaxBytes = 64 * 1024;
  if (text.size() > kMaxBytes) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("name: {} bytes exceed the limit of {}", text.size(), kMaxBytes), ""};
  }
  const size_t brace = std::min(text.find('{'), text.size());
  AppName name;
  name.app = trim(text.substr(0, brace));
  if (name.app.empty()) return name_error("no application name in", text);
  if (!std::ranges::all_of(name.app, is_word))
    return name_error("not a valid application name", name.app);
  VESTA_ASSIGN(name.labels, parse_bare_labels(text.substr(brace)));
  return name;
}

std::pair<std::string_view, std::string_view> split_suffix(std::string_view app) {
  const size_t dot = app.rfind('.');
  if (dot == std::string_view::npos) return {app, {}};
  return {app.substr(0, dot), app.substr(dot + 1)};
}

}  // namespace vesta::pyroscope
