#include "server/rpc/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <utility>

#include "base/text.h"
#include "formats/common/compression.h"
#include "server/grpc/grpc_protocol.h"
#include "server/http/http_text.h"
#include "server/http/request_checks.h"
#include "server/rpc/connect.h"
#include "server/rpc/connect_get.h"

namespace vesta::server {
namespace {

// Errors and health checks are smaller, and as many as there are connections fit into memory.
constexpr uint64_t kSmallAnswer = 16 * 1024;
// Most profiles unpack to less than this many times their size; only the others are unpacked again,
// with as many times the room.
constexpr uint64_t kUsualRatio = 16;
constexpr uint64_t kLeastRoom = uint64_t{1} << 20;
// About what a batch takes, as a multiple of the message that it is read from.
constexpr uint64_t kBuiltRatio = 2;

bool has_header(const HttpResponse& response, std::string_view name) {
  const std::string wanted = lower_case(name);
  return std::ranges::any_of(response.headers,
                             [&](const auto& field) { return lower_case(field.first) == wanted; });
}

HttpResponse not_found(std::string_view path) {
  return error_response({ErrorCode::kNotFound, fmt::format("unknown path {}", path),
                         "/api/v1/openapi.json lists all routes"});
}

HttpResponse call_rpc_endpoint(const RpcMethod& method, HttpRequest& request, const Caller& caller,
                               uint64_t max_decoded_bytes, MemoryBudget::Lease& lease) {
  if (is_connect_get(request)) {
    if (auto taken = take_connect_get(request, max_decoded_bytes, lease); !taken) {
      return taken.error().code == ErrorCode::kTooMany ? busy_response(taken.error())
                                                       : error_response(taken.error());
    }
  } else if (const auto type = grpc_type_of(request.header("content-type"))) {
    return handle_grpc(*type, method, request, caller, max_decoded_bytes, lease);
  }
  return handle_connect(method, request, caller);
}

HttpResponse call(const Endpoint& endpoint, HttpRequest& request, const Caller& caller,
                  uint64_t max_decoded_bytes, MemoryBudget::Lease& lease) {
  try {
    if (endpoint.rpc != nullptr) {
      return call_rpc_endpoint(*endpoint.rpc, request, caller, max_decoded_bytes, lease);
    }
    return endpoint.http->handler(request, caller);
  } catch (const std::bad_alloc&) {
    return busy_response(
        {ErrorCode::kUnavailable, "out of memory", "try again, or narrow the query"});
  } catch (const std::exception& e) {
    return error_response({ErrorCode::kIo, std::string("internal error: ") + e.what(), {}});
  }
}

// What answers whatever name a request is for: it tells nothing, and orchestrators ask for it by
// names of their own.
bool is_probe(const Endpoint& endpoint) {
  return endpoint.pattern() == "/healthz" || endpoint.pattern() == "/ready";
}

std::string_view refusal_reason(ErrorCode code) {
  if (code == ErrorCode::kUnauthenticated) return "unauthenticated";
  return code == ErrorCode::kPermission ? "forbidden" : "bad_tenant";
}

}  // namespace

Dispatcher::Dispatcher(const Routes& routes, Admit admit, Observer observer, RequestLimits limits,
                       HostNames names, MemoryBudget* query_memory)
    : router_(routes),
      admit_(std::move(admit)),
      observer_(std::move(observer)),
      limits_(limits),
      names_(std::move(names)),
      query_memory_(query_memory),
      answers_(limits.answer_bytes, limits.answer_reserve) {}

std::variant<Dispatcher::Admission, Dispatcher::Refusal> Dispatcher::admit(
    const HttpRequest& head, const std::vector<std::string>& segments, const std::string& address,
    const std::vector<std::string>& only_paths) const {
  Caller nobody;
  nobody.tenant.clear();
  nobody.address = address;
  if (!only_paths.empty() && std::ranges::find(only_paths, head.path) == only_paths.end()) {
    return Refusal{not_found(head.path), "not_found", {}, nobody};
  }
  Router::Match match = router_.find(head.method, segments);
  if (match.endpoint == nullptr && match.allow.empty()) {
    return Refusal{not_found(head.path), "not_found", {}, nobody};
  }
  if (match.endpoint == nullptr) {
    HttpResponse response = error_response(
        {ErrorCode::kUsage, fmt::format("{} does not allow {}", head.path, head.method),
         fmt::format("use {}", match.allow)},
        405);
    response.headers.emplace_back("Allow", match.allow);
    return Refusal{std::move(response), "method", {}, nobody};
  }
  const Endpoint& endpoint = *match.endpoint;
  if (!is_probe(endpoint) && !names_.includes(head.header("host"))) {
    return Refusal{
        error_response({ErrorCode::kPermission,
                        fmt::format("refused the host name {}", header_safe(head.header("host"))),
                        "use localhost or an IP address, or add the name to server.hosts"}),
        "host", endpoint.pattern(), nobody};
  }
  const Credentials credentials{head.header("authorization"), head.header("x-scope-orgid"),
                                address};
  auto caller = admit_caller(credentials, endpoint.scope());
  if (!caller) {
    HttpResponse response = error_response(caller.error());
    if (response.status == 401) {
      response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"vesta\"");
    }
    const std::string_view reason = refusal_reason(caller.error().code);
    return Refusal{std::move(response), reason, endpoint.pattern(),
                   reason == "forbidden" ? owner_of(credentials, nobody) : nobody};
  }
  if (is_write_of_other_page(head, names_)) {
    return Refusal{
        error_response({ErrorCode::kPermission, "refused a write from another web site", {}}),
        "cross_site", endpoint.pattern(), std::move(*caller)};
  }
  if (!is_known_coding(head.header("content-encoding"))) {
    HttpResponse response =
        error_response({ErrorCode::kUnsupported,
                        fmt::format("unknown Content-Encoding {}", head.header("content-encoding")),
                        "send gzip, zstd or identity"},
                       415);
    response.headers.emplace_back("Accept-Encoding", "gzip, zstd");
    return Refusal{std::move(response), "coding", endpoint.pattern(), std::move(*caller)};
  }
  return Admission{&endpoint, std::move(*caller), std::move(match.path_fields)};
}

Result<Caller> Dispatcher::admit_caller(const Credentials& credentials, Scope scope) const {
  VESTA_ASSIGN(Caller caller, admit_(credentials, scope));
  caller.deadline = std::chrono::steady_clock::now() + limits_.timeout;
  return caller;
}

Caller Dispatcher::owner_of(const Credentials& credentials, const Caller& otherwise) const {
  for (const Scope scope : {Scope::kRead, Scope::kWrite}) {
    if (auto caller = admit_(credentials, scope)) return std::move(*caller);
  }
  return otherwise;
}

void Dispatcher::observe(const RequestRecord& record) const {
  if (!observer_) return;
  const std::string target = loggable_target(record.target);
  RequestRecord safe = record;
  safe.target = target;
  observer_(safe);
}

HttpResponse Dispatcher::run(const Admission& admission, HttpRequest& request,
                             MemoryBudget::Lease& lease) const {
  const RunningRequests::Entry entry(running_, admission.endpoint->pattern());
  HttpResponse response;
  auto body = decode_body(std::move(request.body), request.header("content-encoding"),
                          limits_.max_decoded_bytes, lease);
  if (body) {
    const Scope scope = admission.endpoint->scope();
    MemoryAccount account = account_for(scope, admission.caller.tenant, lease);
    const MemoryAccount::Scope current(account);
    request.body = std::move(*body);
    request.path_fields = admission.path_fields;
    const Status charged = charge_for_write(scope, request.body.size());
    response = charged.ok() ? call(*admission.endpoint, request, admission.caller,
                                   limits_.max_decoded_bytes, lease)
                            : error_response(charged.error());
  } else {
    response = error_response(body.error());
  }
  if (response.status == 429 && !has_header(response, "retry-after"))
    response.headers.emplace_back("Retry-After", "1");
  request.body = {};
  lease.resize(0);
  compress_response(request.header("accept-encoding"), response);
  if (const Status covered = cover_answer(response.body.capacity(), admission.caller.tenant, lease);
      !covered) {
    response = covered.error().code == ErrorCode::kUnavailable ? busy_response(covered.error())
                                                               : error_response(covered.error());
  }
  add_security_headers(response);
  return response;
}

Status Dispatcher::cover_answer(uint64_t bytes, std::string_view tenant,
                                MemoryBudget::Lease& lease) const {
  lease = MemoryBudget::Lease(answers_, answers_.holder(tenant));
  if (bytes <= kSmallAnswer || lease.resize(bytes)) return {};
  if (bytes > answers_.most_for_one()) {
    return Error{
        ErrorCode::kLimit,
        fmt::format("the answer has {} bytes; the limit is {}", bytes, answers_.most_for_one()),
        "narrow the query, or raise server.answer_memory"};
  }
  return Error{ErrorCode::kUnavailable, "unread answers exceed server.answer_memory",
               "try again in a moment"};
}

MemoryAccount Dispatcher::account_for(Scope scope, std::string_view tenant,
                                      const MemoryBudget::Lease& lease) const {
  if (scope == Scope::kWrite) return MemoryAccount(lease.budget(), lease.bytes(), lease.holder());
  if (query_memory_ == nullptr) return MemoryAccount(nullptr);
  return MemoryAccount(query_memory_, 0, query_memory_->holder(tenant));
}

Status charge_for_write(Scope scope, uint64_t body_bytes) {
  MemoryAccount* account = MemoryAccount::current();
  if (scope != Scope::kWrite || account == nullptr) return {};
  return account->take_or_alone(body_bytes * kBuiltRatio);
}

bool is_known_coding(std::string_view coding) {
  const std::string word = lower_case(trim(coding));
  return word.empty() || word == "identity" || word == "gzip" || word == "x-gzip" || word == "zstd";
}

Result<std::string> decode_body(std::string body, std::string_view coding, uint64_t max_bytes,
                                MemoryBudget::Lease& lease) {
  const std::string word = lower_case(trim(coding));
  if (word.empty() || word == "identity" || body.empty()) return body;
  const bool is_zstd = word == "zstd";
  if (!is_zstd && word != "gzip" && word != "x-gzip") {
    return Error{ErrorCode::kUnsupported, fmt::format("unknown Content-Encoding {}", word),
                 "send gzip, zstd or identity"};
  }
  if (detect_compression(body) != (is_zstd ? Compression::kZstd : Compression::kGzip)) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("Content-Encoding is {}, but the body is not", word),
                 "remove the header if the body is not compressed as a whole"};
  }
  uint64_t room = std::max<uint64_t>(kLeastRoom, body.size() * kUsualRatio);
  while (true) {
    room = std::min(room, max_bytes);
    if (!lease.resize(body.size() + room)) {
      return Error{ErrorCode::kTooMany, "requests in flight exceed the server's memory limit",
                   "try again in a moment"};
    }
    auto decoded = is_zstd ? unzstd(body, room) : gunzip(body, room);
    if (decoded.ok()) {
      body = {};
      lease.resize(decoded->size());
      return decoded;
    }
    if (decoded.error().code != ErrorCode::kLimit) return decoded;
    if (room == max_bytes) break;
    room *= kUsualRatio;
  }
  return Error{ErrorCode::kLimit, fmt::format("the decompressed body exceeds {} bytes", max_bytes),
               "send smaller requests"};
}

void compress_response(std::string_view accept_encoding, HttpResponse& response) {
  if (!response.compressible || response.body.size() < kMinCompressedBytes ||
      has_header(response, "content-encoding")) {
    return;
  }
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (!accepts_encoding(accept_encoding, "gzip")) return;
  response.body = gzip(response.body, kGzipLevel);
  response.headers.emplace_back("Content-Encoding", "gzip");
}

void add_security_headers(HttpResponse& response) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kHeaders = {{
      {"Content-Security-Policy",
       "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
  }};
  for (const auto& [name, value] : kHeaders) {
    if (!has_header(response, name)) response.headers.emplace_back(name, value);
  }
}

HttpResponse busy_response(const Error& error) {
  HttpResponse response = error_response(error);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace vesta::server
