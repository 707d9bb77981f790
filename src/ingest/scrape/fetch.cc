#include "ingest/scrape/fetch.h"

#include <fmt/format.h>

#include <algorithm>

namespace vesta {
namespace {

constexpr int kMaxRedirects = 3;
constexpr size_t kMaxLocation = 2048;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// "http://host:port"
std::string_view origin_of(std::string_view url) {
  const size_t host = url.find("://");
  if (host == std::string_view::npos) return {};
  return url.substr(0, url.find_first_of("/?#", host + 3));
}

bool has_scheme(std::string_view text) {
  const size_t colon = text.find(':');
  return colon != std::string_view::npos && colon < text.find_first_of("/?#");
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

std::optional<std::string> resolve_redirect(std::string_view url, std::string_view location) {
  const std::string_view origin = origin_of(url);
  if (origin.empty() || location.empty() || location.size() > kMaxLocation) return std::nullopt;
  // Backslashes, spaces and control characters are what parsers of URLs disagree on.
  if (std::ranges::any_of(location, [](char c) { return c <= ' ' || c >= 0x7F || c == '\\'; }))
    return std::nullopt;
  if (has_scheme(location)) {
    if (!equal_ignoring_case(origin_of(location), origin)) return std::nullopt;
    return std::string(location);
  }
  if (location.starts_with("//")) return std::nullopt;
  if (location.starts_with('/')) return fmt::format("{}{}", origin, location);
  std::string_view path = url.substr(origin.size());
  path = path.substr(0, path.find_first_of("?#"));
  if (location.starts_with('?')) return fmt::format("{}{}{}", origin, path, location);
  path = path.substr(0, path.rfind('/') + 1);
  return fmt::format("{}{}{}", origin, path.empty() ? "/" : path, location);
}

Result<std::string> fetch_profile(HttpCall call) {
  call.follow_redirects = false;
  for (int followed = 0;; ++followed) {
    VESTA_ASSIGN(HttpAnswer answer, http_call(call));
    if (answer.status == 200) return std::move(answer.body);
    if (!is_redirect(answer.status)) {
      return Error{ErrorCode::kIo, fmt::format("the target answered {}", answer.status),
                   answer.status == 404
                       ? "Go programs serve profiles at /debug/pprof/profile and /debug/pprof/heap"
                       : ""};
    }
    const auto next = resolve_redirect(call.url, answer.header("location"));
    if (!next) {
      return Error{
          ErrorCode::kPermission,
          fmt::format("the target answered {}, a redirect to another address", answer.status),
          "scrape the final address"};
    }
    if (followed == kMaxRedirects) {
      return Error{ErrorCode::kIo, "the target redirects too often", ""};
    }
    call.url = *next;
  }
}

}  // namespace vesta
