#include "server/pyroscope/request_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/hex.h"
#include "base/text.h"

namespace vesta::server {
namespace {

constexpr size_t kUuidDashes[] = {8, 13, 18, 23};

Error usage(std::string message, std::string hint = {}) {
  return Error{ErrorCode::kUsage, std::move(message), std::move(hint)};
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
// What a media type and its parameters are made of.
bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~/";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return is_letter(c) || is_digit(c) || kMarks.find(c) != std::string_view::npos;
  });
}

// The part of `text` up to `end`, which is taken off; all of it when there is none. Marks inside of
// quotes end nothing.
std::string_view take_until(std::string_view& text, char end) {
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') quoted = !quoted;
    if (text[at] != end || quoted) continue;
    const std::string_view part = text.substr(0, at);
    text.remove_prefix(at + 1);
    return part;
  }
  return std::exchange(text, std::string_view());
}

}  // namespace

QueryBudget budget_of(const PyroscopeQueryOptions& options, const Caller& caller) {
  return QueryBudget{options.budget_bytes, caller.deadline};
}

int64_t nanos_from_millis(int64_t millis) {
  constexpr int64_t kLimit = INT64_MAX / kMillisecond;
  return std::clamp(millis, -kLimit, kLimit) * kMillisecond;
}

Result<TimeRange> range_from_millis(int64_t start_ms, int64_t end_ms) {
  if (start_ms == 0 || end_ms == 0) {
    return usage("start and end are required", "send both, in milliseconds since 1970");
  }
  if (start_ms > end_ms) {
    return usage(fmt::format("start ({}) is after end ({})", start_ms, end_ms), "swap them");
  }
  return TimeRange{nanos_from_millis(start_ms),
                   nanos_from_millis(end_ms == INT64_MAX ? end_ms : end_ms + 1)};
}

Result<Selector> read_selector(std::string_view text) {
  VESTA_ASSIGN(TypedSelector parsed, parse_selector(text));
  if (!parsed.type.empty()) {
    const auto type = ProfileType::parse(parsed.type);
    VESTA_ASSIGN(LabelMatcher matcher,
                 LabelMatcher::make(std::string(type ? kTypeLabel : "__name__"),
                                    MatchOperator::kEqual, type ? type->id() : parsed.type));
    parsed.selector.push_back(std::move(matcher));
  }
  return std::move(parsed.selector);
}

Result<ProfileType> read_type(std::string_view id) {
  return ProfileType::parse(id);
}

Result<size_t> read_max_nodes(std::optional<int64_t> max_nodes,
                              const PyroscopeQueryOptions& options) {
  const int64_t nodes = max_nodes.value_or(0);
  if (nodes < 0 || nodes > options.max_nodes_limit) {
    return usage(fmt::format("max_nodes is {}", nodes),
                 fmt::format("use up to {}", options.max_nodes_limit));
  }
  return static_cast<size_t>(nodes == 0 ? options.default_max_nodes : nodes);
}

Result<std::array<uint8_t, 8>> read_span_id(std::string_view text) {
  std::array<uint8_t, 8> id{};
  if (!parse_hex(text, id)) return usage("a span id is not 16 hexadecimal digits");
  return id;
}

Result<std::array<uint8_t, 16>> read_trace_id(std::string_view text) {
  std::array<uint8_t, 16> id{};
  if (!parse_hex(text, id)) return usage("a trace id is not 32 hexadecimal digits");
  return id;
}

Result<std::string> read_profile_id(std::string_view text) {
  std::string hex;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool is_dash_place =
        text.size() == 36 && std::ranges::find(kUuidDashes, at) != std::end(kUuidDashes);
    if (is_dash_place && text[at] == '-') continue;
    const char c = text[at];
    hex.push_back(c >= 'A' && c <= 'F' ? static_cast<char>(c + ('a' - 'A')) : c);
  }
  if (hex.size() != 32 || !std::ranges::all_of(hex, [](char c) { return hex_digit(c) >= 0; })) {
    return usage("a profile id is not a UUID");
  }
  return hex;
}

std::string to_uuid(std::string_view hex) {
  std::string uuid(hex);
  if (uuid.size() != 32) return uuid;
  for (const size_t at : kUuidDashes) uuid.insert(at, 1, '-');
  return uuid;
}

Result<bool> takes_any_label_name(std::string_view accept) {
  bool takes = false;
  while (!accept.empty()) {
    std::string_view entry = take_until(accept, ',');
    if (!is_token(trim(take_until(entry, ';')))) return usage("the Accept header is malformed");
    while (!entry.empty()) {
      std::string_view value = trim(take_until(entry, ';'));
      if (value.empty()) continue;
      const std::string_view name = trim(take_until(value, '='));
      value = trim(value);
      const bool is_quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
      if (!is_token(name) || (!is_quoted && !is_token(value))) {
        return usage("the Accept header is malformed");
      }
      if (is_quoted) value = value.substr(1, value.size() - 2);
      if (name == "allow-utf8-labelnames" && value == "true") takes = true;
    }
  }
  return takes;
}

bool is_plain_label_name(std::string_view name) {
  return !name.empty() && !is_digit(name[0]) &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

}  // namespace vesta::server
