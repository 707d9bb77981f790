// The routes of ingest around an engine, called without a transport: for tests and fuzz targets.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "ingest/ingest.h"
#include "server/api.h"
#include "server/ingest/routes.h"

namespace vesta::server::test {

inline constexpr int64_t kIngestTime = 1'800'000'000'000'000'000;

class IngestServer {
 public:
  explicit IngestServer(Engine& engine, IngestOptions options = {})
      : ingest(engine, with_clock(std::move(options))) {
    add_ingest_routes(routes, ingest);
  }

  HttpResponse post(std::string_view path, Fields query, std::string body,
                    std::string_view content_type = "") const {
    HttpRequest request;
    request.method = "POST";
    request.path = path;
    request.query = std::move(query);
    request.body = std::move(body);
    if (!content_type.empty()) request.headers = {{"content-type", std::string(content_type)}};
    for (const HttpRoute& route : routes.http()) {
      if (route.path == path && route.method == "POST") return route.handler(request, caller);
    }
    HttpResponse none;
    none.status = 404;
    return none;
  }

  Result<std::string> call(std::string_view path, std::string_view bytes) const {
    for (const RpcMethod& method : routes.rpc()) {
      if (method.path == path) return method.handler(bytes, caller);
    }
    return Error{ErrorCode::kNotFound, "no such method", ""};
  }

  Caller caller;
  Routes routes;
  Ingest ingest;

 private:
  static IngestOptions with_clock(IngestOptions options) {
    options.clock = [] { return UnixNs(kIngestTime); };
    return options;
  }
};

struct TestPart {
  std::string name;
  std::string content;
};
inline constexpr std::string_view kMultipartType =
    "multipart/form-data; boundary=\"----x7MA4YWxk\"";
inline std::string multipart_body(const std::vector<TestPart>& parts) {
  std::string body;
  for (const TestPart& part : parts) {
    body += "------x7MA4YWxk\r\nContent-Disposition: form-data; name=\"" + part.name +
            "\"; filename=\"" + part.name +
            ".bin\"\r\nContent-Type: application/octet-stream\r\n\r\n" + part.content + "\r\n";
  }
  return body + "------x7MA4YWxk--\r\n";
}

}  // namespace vesta::server::test
