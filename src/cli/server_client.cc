#include "cli/server_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/hash.h"
#include "base/json_reader.h"
#include "net/http_client.h"
#include "net/http_get.h"
#include "profile/profile_types.h"

namespace vesta::cli {
namespace {

constexpr std::string_view kDefaultServer = "http://127.0.0.1:4040";
constexpr uint64_t kMaxAnswer = uint64_t{64} << 20;

std::string setting(const Arguments& arguments, const char* flag, const char* variable) {
  if (arguments.has(flag)) return arguments.get(flag);
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return value == nullptr ? std::string() : value;
}

ErrorCode code_of(int status) {
  switch (status) {
    case 400:
    case 405:
      return ErrorCode::kUsage;
    case 401:
      return ErrorCode::kUnauthenticated;
    case 403:
      return ErrorCode::kPermission;
    case 404:
      return ErrorCode::kNoData;
    case 413:
      return ErrorCode::kLimit;
    case 429:
      return ErrorCode::kTooMany;
    case 503:
      return ErrorCode::kUnavailable;
    default:
      return ErrorCode::kIo;
  }
}

}  // namespace

std::string message_of(const std::string& body) {
  if (const auto tree = JsonTree::parse(body); tree.ok()) {
    if (const auto message = tree->root()["message"].text(); message.ok())
      return std::string(*message);
  }
  return body.substr(0, std::min<size_t>(body.find('\n'), 300));
}

Result<ServerClient> ServerClient::from(const Arguments& arguments) {
  ServerClient client;
  client.url_ = setting(arguments, "server", "VESTA_SERVER");
  if (client.url_.empty()) client.url_ = kDefaultServer;
  while (client.url_.ends_with('/')) client.url_.pop_back();
  if (!is_url(client.url_)) {
    return Error{ErrorCode::kUsage, fmt::format("'{}' is not a valid server address", client.url_),
                 fmt::format("use an address such as {}", kDefaultServer)};
  }
  client.token_ = setting(arguments, "token", "VESTA_TOKEN");
  client.tenant_ = setting(arguments, "tenant", "VESTA_TENANT");
  return client;
}

Result<std::string> ServerClient::get(std::string_view path, const Parameters& parameters,
                                      uint64_t max_bytes) const {
  VESTA_ASSIGN(HttpAnswer answer, ask(path, parameters, max_bytes));
  return std::move(answer.body);
}

Result<HttpAnswer> ServerClient::ask(std::string_view path, const Parameters& parameters,
                                     uint64_t max_bytes) const {
  return call("GET", path, parameters, {}, max_bytes);
}

Result<std::string> ServerClient::post(std::string_view path, const Parameters& parameters,
                                       std::string body) const {
  VESTA_ASSIGN(HttpAnswer answer, call("POST", path, parameters, std::move(body), kMaxAnswer));
  return std::move(answer.body);
}

Result<std::string> ServerClient::remove(std::string_view path,
                                         const Parameters& parameters) const {
  VESTA_ASSIGN(HttpAnswer answer, call("DELETE", path, parameters, {}, kMaxAnswer));
  return std::move(answer.body);
}

Result<HttpAnswer> ServerClient::call(std::string_view method, std::string_view path,
                                      const Parameters& parameters, std::string body,
                                      uint64_t max_bytes) const {
  HttpCall request;
  request.method = method;
  request.url = url_ + std::string(path);
  char separator = '?';
  for (const auto& [name, value] : parameters) {
    request.url += fmt::format("{}{}={}", separator, name, percent_encode(value));
    separator = '&';
  }
  request.body = std::move(body);
  request.max_bytes = max_bytes;
  request.timeout = timeout_;
  request.connect_timeout = std::min(request.connect_timeout, timeout_);
  if (!token_.empty()) request.headers.emplace_back("Authorization", "Bearer " + token_);
  if (!tenant_.empty()) request.headers.emplace_back("X-Scope-OrgID", tenant_);
  if (method == "POST") {
    request.headers.emplace_back("Content-Type", "application/octet-stream");
    const Hash128 id = hash128(request.body);
    request.headers.emplace_back("Idempotency-Key", fmt::format("{:016x}{:016x}", id.high, id.low));
  }
  auto answer = http_call(request);
  if (!answer.ok()) {
    Error error = with_context(std::move(answer).error(), url_);
    if (error.code == ErrorCode::kIo) {
      error.hint =
          "check that `vesta server` is running there; --server URL or VESTA_SERVER sets the "
          "address";
    }
    return error;
  }
  if (answer->status >= 200 && answer->status < 300) return answer;
  return Error{code_of(answer->status), fmt::format("{}: {}", url_, message_of(answer->body)),
               answer->status == 401
                   ? "set one with --token or VESTA_TOKEN; `vesta token create` creates one"
                   : ""};
}

bool is_selector(const std::string& source) {
  std::error_code ignored;
  if (std::filesystem::exists(source, ignored)) return false;
  if (is_url(source)) return false;
  if (source.ends_with('}') && source.find('{') != std::string::npos) return true;
  return !types_of_word(source).empty();
}

bool is_unclosed_selector(const std::string& source) {
  std::error_code ignored;
  return !is_url(source) && source.find('{') != std::string::npos &&
         source.find('/') > source.find('{') && !source.ends_with('}') &&
         !std::filesystem::exists(source, ignored);
}

std::vector<Flag> server_flags() {
  return {
      {"from", 0, "TIME",
       "selectors: start of the range: -1h, now-30m, 2026-11-15T14:30:00Z, Unix seconds (default "
       "-1h)"},
      {"to", 0, "TIME", "selectors: end of the range (default now)"},
      {"server", 0, "URL",
       "selectors: server address (default VESTA_SERVER, or http://127.0.0.1:4040)"},
      {"token", 0, "TOKEN", "selectors: access token (default VESTA_TOKEN)"},
      {"tenant", 0, "NAME", "selectors: tenant, on multi-tenant servers without tokens"},
  };
}

ServerClient::Parameters range_of(const Arguments& arguments, std::string_view prefix) {
  const auto value = [&](const std::string& name, const char* fallback) {
    const std::string own = std::string(prefix) + name;
    if (arguments.has(own)) return arguments.get(own);
    return arguments.get(name, fallback);
  };
  return {{"from", value("from", "-1h")}, {"to", value("to", "now")}};
}

std::string query_of(const std::string& selector, const Arguments& arguments) {
  std::string query = selector;
  if (query.starts_with('{')) query = arguments.get("type", "cpu") + query;
  if (query.find('{') == std::string::npos) query += "{}";
  return query;
}

Result<std::string> fetch_selector(const std::string& selector, const Arguments& arguments,
                                   uint64_t max_bytes, std::string_view range_prefix) {
  VESTA_ASSIGN(const ServerClient client, ServerClient::from(arguments));
  ServerClient::Parameters parameters = range_of(arguments, range_prefix);
  parameters.emplace_back("query", query_of(selector, arguments));
  for (const char* flag : {"tag-focus", "tag-ignore", "tag-root", "tag-leaf"}) {
    if (!arguments.has(flag)) continue;
    parameters.emplace_back("samples", "true");  // with their labels
    break;
  }
  auto answer = client.get("/api/v1/pprof", parameters, max_bytes);
  if (answer.ok() || answer.error().code != ErrorCode::kNoData) return answer;
  Error error = std::move(answer).error();
  error.hint = kSeriesHint;
  return error;
}

}  // namespace vesta::cli
