#include "server/http/http_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/percent.h"
#include "base/text.h"
#include "formats/otlp/base64.h"

namespace vesta::server {
namespace {

constexpr size_t kMaxParameters = 10'000;
constexpr size_t kMaxSegments = 64;
constexpr size_t kMaxRequestId = 128;
constexpr std::string_view kDots = "...";
// As access/token.h makes them; shorter ones are words of our own, such as vesta_up.
constexpr std::string_view kOwnToken = "vesta_";
constexpr std::string_view kTokenLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
constexpr size_t kLeastToken = 32;

char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return to_lower(x) == to_lower(y); });
}

bool is_secret_name(std::string_view encoded) {
  const std::string name = lower_case(percent_decode(encoded, true).value_or("token"));
  return std::ranges::any_of(
      std::to_array<std::string_view>(
          {"token", "secret", "password", "passwd", "authorization", "apikey", "api_key"}),
      [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

Error bad_escape(std::string_view where) {
  return {ErrorCode::kInvalidInput, fmt::format("the {} of the URL has an invalid % escape", where),
          "send a literal % as %25"};
}

Result<Fields> parse_query(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (part.empty()) continue;
    if (fields.size() == kMaxParameters) {
      return Error{ErrorCode::kInvalidInput,
                   fmt::format("the URL has more than {} parameters", kMaxParameters),
                   {}};
    }
    const size_t equals = part.find('=');
    const bool has_value = equals != std::string_view::npos;
    auto name = percent_decode(part.substr(0, equals), true);
    auto value = percent_decode(has_value ? part.substr(equals + 1) : std::string_view(), true);
    if (!name || !value) return bad_escape("query");
    fields.emplace_back(std::move(*name), std::move(*value));
  }
  return fields;
}

// The weight of one element of a list, in thousandths; 1000 when it has none, 0 when it is broken.
int weight_of(std::string_view parameters) {
  const size_t at = parameters.find("q=");
  if (at == std::string_view::npos) return 1000;
  const std::string_view text = trim(parameters.substr(at + 2, parameters.find(';', at) - at - 2));
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return 0;
  int weight = (text[0] - '0') * 1000;
  if (text.size() == 1) return weight;
  if (text[1] != '.') return 0;
  int unit = 100;
  for (const char c : text.substr(2)) {
    if (c < '0' || c > '9') return 0;
    weight += (c - '0') * unit;
    unit /= 10;
  }
  return std::min(weight, 1000);
}

}  // namespace

std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> segments;
  if (path.starts_with('/')) path.remove_prefix(1);
  while (true) {
    const size_t slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

Result<Target> parse_target(std::string_view target) {
  // The absolute form, which proxies send.
  std::string rooted;
  if (const auto url = split_absolute_target(target)) {
    target = url->rest;
    if (!target.starts_with('/')) {
      rooted = fmt::format("/{}", target);
      target = rooted;
    }
  }
  target = target.substr(0, target.find('#'));
  const size_t question = target.find('?');
  const std::string_view path = target.substr(0, question);
  if (!path.starts_with('/')) {
    return Error{ErrorCode::kInvalidInput, "the request's target is not a path", "start it with /"};
  }
  if (static_cast<size_t>(std::ranges::count(path, '/')) > kMaxSegments) {
    return Error{ErrorCode::kInvalidInput, "the path of the URL is too deep", {}};
  }
  Target out;
  for (const std::string_view segment : split_path(path)) {
    auto decoded = percent_decode(segment, false);
    if (!decoded) return bad_escape("path");
    if (decoded->find('\0') != std::string::npos) {
      return Error{ErrorCode::kInvalidInput, "the path of the URL has a zero byte", {}};
    }
    out.path += '/';
    out.path += *decoded;
    out.segments.push_back(std::move(*decoded));
  }
  if (question != std::string_view::npos) {
    VESTA_ASSIGN(out.query, parse_query(target.substr(question + 1)));
  }
  return out;
}

std::optional<AbsoluteTarget> split_absolute_target(std::string_view target) {
  for (const std::string_view scheme : {"http", "https"}) {
    const std::string_view begin = target.substr(0, scheme.size());
    if (!equal_ignoring_case(begin, scheme) || !target.substr(scheme.size()).starts_with("://")) {
      continue;
    }
    target.remove_prefix(scheme.size() + 3);
    const std::string_view authority = target.substr(0, target.find_first_of("/?#"));
    return AbsoluteTarget{scheme, authority, target.substr(authority.size())};
  }
  return std::nullopt;
}

std::string loggable_target(std::string_view target) {
  std::string out(target.substr(0, target.find('?')));
  char before = '?';
  for (target.remove_prefix(out.size()); !target.empty(); before = '&') {
    target.remove_prefix(1);
    const std::string_view part = target.substr(0, target.find('&'));
    target.remove_prefix(part.size());
    const size_t equals = std::min(part.find('='), part.size());
    out += before;
    if (equals < part.size() && is_secret_name(part.substr(0, equals))) {
      out.append(part.substr(0, equals + 1)).append(kDots);
    } else {
      out += part;
    }
  }
  for (size_t at = out.find(kOwnToken); at != std::string::npos; at = out.find(kOwnToken, at)) {
    at += kOwnToken.size();
    const size_t size = std::min(out.find_first_not_of(kTokenLetters, at), out.size()) - at;
    if (size >= kLeastToken) out.replace(at, size, kDots);
  }
  return out;
}

bool drop_prefix(std::string_view prefix, Target& target) {
  if (prefix.empty()) return true;
  const std::vector<std::string_view> words = split_path(prefix);
  if (words.size() > target.segments.size() ||
      !std::equal(words.begin(), words.end(), target.segments.begin())) {
    return true;
  }
  target.segments.erase(target.segments.begin(),
                        target.segments.begin() + static_cast<std::ptrdiff_t>(words.size()));
  target.path.erase(0, prefix.size());
  return !target.segments.empty();
}

bool accepts_encoding(std::string_view accept_encoding, std::string_view coding) {
  int any = 0;
  while (!accept_encoding.empty()) {
    const std::string_view element = accept_encoding.substr(0, accept_encoding.find(','));
    accept_encoding.remove_prefix(std::min(accept_encoding.size(), element.size() + 1));
    const size_t semicolon = element.find(';');
    const std::string_view name = trim(element.substr(0, semicolon));
    const int weight =
        semicolon == std::string_view::npos ? 1000 : weight_of(element.substr(semicolon + 1));
    if (equal_ignoring_case(name, coding)) return weight > 0;
    if (name == "*") any = weight;
  }
  return any > 0;
}

std::optional<std::string> secret_of(std::string_view authorization) {
  authorization = trim(authorization);
  const size_t space = authorization.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view scheme = authorization.substr(0, space);
  const std::string_view rest = trim(authorization.substr(space + 1));
  if (equal_ignoring_case(scheme, "bearer")) return std::string(rest);
  if (!equal_ignoring_case(scheme, "basic")) return std::nullopt;
  const auto pair = otlp::from_base64(rest);
  if (!pair) return std::nullopt;
  const size_t colon = pair->find(':');
  if (colon == std::string::npos) return std::nullopt;
  return pair->substr(colon + 1);
}

bool is_request_id(std::string_view text) {
  return !text.empty() && text.size() <= kMaxRequestId && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == ':';
  });
}

std::string header_safe(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return out;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), to_lower);
  return out;
}

}  // namespace vesta::server
