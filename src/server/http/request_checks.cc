#include "server/http/request_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "server/http/authority.h"
#include "server/http/http_text.h"

namespace vesta::server {
namespace {

// Fields of which only the first would be looked at. A second one is for somebody else to see.
constexpr std::array<std::string_view, 10> kSingle = {
    "authorization", "content-encoding", "content-length", "content-type",      "expect",
    "host",          "origin",           "sec-fetch-site", "transfer-encoding", "x-scope-orgid",
};

Error invalid(std::string message, std::string hint = {}) {
  return {ErrorCode::kInvalidInput, std::move(message), std::move(hint)};
}

std::optional<std::string_view> find(const Fields& headers, std::string_view name) {
  const auto found = std::ranges::find(
      headers, name, [](const auto& field) -> std::string_view { return field.first; });
  if (found == headers.end()) return std::nullopt;
  return found->second;
}

Status check_repetitions(const Fields& headers) {
  std::array<bool, kSingle.size()> seen{};
  for (const auto& [name, value] : headers) {
    const auto at = static_cast<size_t>(std::ranges::find(kSingle, name) - kSingle.begin());
    if (at == kSingle.size()) continue;
    if (seen[at]) {
      return invalid(fmt::format("the request has more than one {} header", name), "send one");
    }
    seen[at] = true;
  }
  return {};
}

Status check_framing(const RequestHead& head) {
  const auto length = find(head.headers, "content-length");
  if (length && (length->empty() ||
                 !std::ranges::all_of(*length, [](char c) { return c >= '0' && c <= '9'; }))) {
    return invalid(fmt::format("Content-Length '{}' is not a number", header_safe(*length)));
  }
  const auto coding = find(head.headers, "transfer-encoding");
  if (!coding) return {};
  if (head.version != HttpVersion::k11) {
    return invalid("Transfer-Encoding needs HTTP/1.1", "send Content-Length");
  }
  if (length) return invalid("the request has both Content-Length and Transfer-Encoding");
  if (lower_case(trim(*coding)) != "chunked") {
    return invalid(fmt::format("Transfer-Encoding '{}' is not supported", header_safe(*coding)),
                   "send only chunked; use Content-Encoding for compression");
  }
  return {};
}

Status check_host(const RequestHead& head) {
  const auto field = find(head.headers, "host");
  std::optional<Authority> host;
  if (field) {
    VESTA_ASSIGN(host, parse_authority(trim(*field)));
  } else if (head.version == HttpVersion::k11) {
    return invalid("the request has no Host header");
  }
  const auto url = split_absolute_target(head.target);
  if (!url && head.authority.empty()) return {};
  VESTA_ASSIGN(const Authority named, parse_authority(url ? url->authority : head.authority));
  const std::string_view scheme = url ? url->scheme : std::string_view();
  if (host && !is_same_place(*host, named, scheme)) {
    return invalid("the host in the target differs from Host");
  }
  return {};
}

}  // namespace

Status check_head(const RequestHead& head) {
  VESTA_TRY(check_repetitions(head.headers));
  VESTA_TRY(check_framing(head));
  return check_host(head);
}

bool has_folded_line(std::string_view head) {
  return head.find("\r\n ") != std::string_view::npos ||
         head.find("\r\n\t") != std::string_view::npos;
}

bool is_write_of_other_page(const HttpRequest& head, const HostNames& names) {
  if (head.method == "GET" || head.method == "HEAD") return false;
  const std::string_view from = head.header("sec-fetch-site");
  if (from == "same-origin" || from == "none") return false;
  // To browsers, another port of the machine is the same site.
  if (from == "cross-site" || from == "same-site") return true;
  const auto origin = find(head.headers, "origin");
  if (!origin) return false;  // not a browser
  const auto url = split_absolute_target(*origin);
  if (!url || !url->rest.empty()) return true;  // "null", a page in a sandbox or a file
  const auto page = parse_authority(url->authority);
  if (!page) return true;
  if (names.lists(*page)) return false;
  const auto host = parse_authority(trim(head.header("host")));
  return !host || !is_same_place(*page, *host, url->scheme);
}

}  // namespace vesta::server
