#include "server/rpc/connect_get.h"

#include <fmt/format.h>

#include <utility>

#include "formats/otlp/base64.h"
#include "server/http/http_text.h"
#include "server/rpc/dispatcher.h"

namespace vesta::server {

bool is_connect_get(const HttpRequest& request) {
  return (request.method == "GET" || request.method == "HEAD") &&
         (request.find_parameter("message") || request.find_parameter("encoding") ||
          request.find_parameter("connect"));
}

Status take_connect_get(HttpRequest& request, uint64_t max_decoded_bytes,
                        MemoryBudget::Lease& lease) {
  const auto bad = [](std::string message, std::string hint) {
    return Error{ErrorCode::kInvalidInput, std::move(message), std::move(hint)};
  };
  if (const auto version = request.find_parameter("connect"); version && *version != "v1") {
    return bad("the parameter 'connect' must be v1", {});
  }
  const std::string_view encoding = request.parameter("encoding");
  if (encoding != "json" && encoding != "proto") {
    return bad(encoding.empty() ? "the parameter 'encoding' is missing"
                                : fmt::format("unknown encoding '{}'", header_safe(encoding)),
               "send encoding=json or encoding=proto");
  }
  const auto sent = request.find_parameter("message");
  if (!sent) return bad("the parameter 'message' is missing", {});
  std::string message(*sent);
  const std::string_view base64 = request.parameter("base64");
  if (base64 == "1") {
    auto bytes = otlp::from_base64(message);
    if (!bytes) return bad("the parameter 'message' is not base64", {});
    message = std::move(*bytes);
  } else if (!base64.empty() && base64 != "0") {
    return bad("the parameter 'base64' must be 0 or 1", {});
  }
  const std::string compression(request.parameter("compression"));
  if (!is_known_coding(compression)) {
    return bad(fmt::format("unknown compression '{}'", header_safe(compression)),
               "send compression=gzip, zstd or identity");
  }
  VESTA_ASSIGN(request.body,
               decode_body(std::move(message), compression, max_decoded_bytes, lease));
  std::erase_if(request.headers, [](const auto& field) { return field.first == "content-type"; });
  request.headers.emplace_back("content-type",
                               encoding == "json" ? "application/json" : "application/proto");
  request.method = "POST";
  return {};
}

}  // namespace vesta::server
