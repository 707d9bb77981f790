#include "server/http/authority.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "server/http/http_text.h"

namespace vesta::server {
namespace {

constexpr size_t kMaxHost = 255;

Error not_valid(std::string_view text) {
  return {ErrorCode::kInvalidInput,
          fmt::format("'{}' is not a valid host", header_safe(text.substr(0, kMaxHost))),
          "send a name or an address, optionally with a port"};
}

bool is_ipv4(const std::string& text) {
  in_addr address{};
  return ::inet_pton(AF_INET, text.c_str(), &address) == 1;
}

bool is_ipv6(const std::string& text) {
  in6_addr address{};
  return ::inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

// Words of letters, digits, '-' and '_' between dots. Percent escapes and the other characters that
// RFC 3986 would allow have no use in DNS.
bool is_name(std::string_view text) {
  while (true) {
    const std::string_view word = text.substr(0, text.find('.'));
    if (word.empty() || !std::ranges::all_of(word, [](char c) {
          return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        })) {
      return false;
    }
    if (word.size() == text.size()) return true;
    text.remove_prefix(word.size() + 1);
  }
}

}  // namespace

Result<Authority> parse_authority(std::string_view text) {
  Authority out;
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return not_valid(text);
    out.host = lower_case(text.substr(1, end - 1));
    const std::string_view rest = text.substr(end + 1);
    has_port = !rest.empty();
    if (has_port && !rest.starts_with(':')) return not_valid(text);
    if (has_port) port = rest.substr(1);
    out.is_address = is_ipv6(out.host);
    if (!out.is_address) return not_valid(text);
  } else {
    const size_t colon = text.find(':');
    has_port = colon != std::string_view::npos;
    if (has_port) port = text.substr(colon + 1);
    out.host = lower_case(text.substr(0, colon));
    if (out.host.size() > kMaxHost) return not_valid(text);
    out.is_address = is_ipv4(out.host);
    if (out.host.ends_with('.')) out.host.pop_back();
    if (!out.is_address && !is_name(out.host)) return not_valid(text);
  }
  if (!has_port) return out;
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size() || port.size() > 5) {
    return not_valid(text);
  }
  out.port = number;
  return out;
}

std::optional<uint16_t> default_port(std::string_view scheme) {
  if (scheme == "http") return 80;
  if (scheme == "https") return 443;
  return std::nullopt;
}

bool is_same_place(const Authority& a, const Authority& b, std::string_view scheme) {
  const auto usual = default_port(scheme);
  return a.host == b.host && (a.port ? a.port : usual) == (b.port ? b.port : usual);
}

}  // namespace vesta::server
