// What a server of Vesta is made of, seen from an API family: requests, responses, and the table of
// routes that the family adds itself to. Transports (HTTP/1.1, gRPC) fill in the first and send the
// second. Plain data; handlers run on worker threads, several at once, and may block.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace google::protobuf {
class Message;
}

namespace vesta::server {

// Shorter answers go out as they are.
inline constexpr size_t kMinCompressedBytes = 1024;
// What costs least: the answer is waited for, and most are JSON, which shrinks well at any level.
inline constexpr int kGzipLevel = 1;

enum class Scope : uint8_t { kNone, kRead, kWrite, kAdmin };

using Fields = std::vector<std::pair<std::string, std::string>>;

// Who asks, as found out before a handler runs.
struct Caller {
  std::string tenant = "anonymous";
  std::string token;                     // its name, for the audit log; empty without tokens
  std::vector<std::string_view> scopes;  // that the token has: "read", "write", "admin"
  std::string address;                   // of the peer, without the port
  // For handlers of RpcMethods, which see no request. Names in lower case.
  Fields headers;
  // Nobody waits for the answer afterwards.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  // Whether the client has closed the connection, for work that is long enough to be stopped. Any
  // thread may ask, every few milliseconds. Null: it is not known.
  std::function<bool()> is_gone;

  // The first of that name; empty when there is none.
  std::string_view header(std::string_view name) const;
};

struct HttpRequest {
  std::string method;
  std::string path;    // decoded, without the query
  Fields query;        // decoded, in order
  Fields headers;      // names in lower case
  Fields path_fields;  // what stood at {name} in the route
  std::string body;    // Content-Encoding undone

  // The first of that name; empty when there is none.
  std::string_view header(std::string_view name) const;
  std::string_view parameter(std::string_view name) const;
  std::optional<std::string_view> find_parameter(std::string_view name) const;
  std::vector<std::string_view> parameters(std::string_view name) const;
  std::string_view path_field(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  Fields headers;
  bool compressible = true;  // false for what is compressed already
};

using HttpHandler = std::function<HttpResponse(const HttpRequest&, const Caller&)>;

struct HttpRoute {
  std::string method;  // "GET"
  std::string path;    // "/api/v1/values/{label}"
  Scope scope = Scope::kRead;
  HttpHandler handler;
};

// A unary call whose messages are protobuf. One entry serves Connect (protobuf and JSON over
// HTTP/1.1) and gRPC.
struct RpcMethod {
  std::string path;  // "/push.v1.PusherService/Push"
  Scope scope = Scope::kRead;
  // Bytes in, bytes out. The error's code becomes the status of the protocol.
  std::function<Result<std::string>(std::string_view request, const Caller&)> handler;
  // For JSON: what the bytes are messages of. Null when the method has no JSON form.
  const google::protobuf::Message* request_type = nullptr;
  const google::protobuf::Message* response_type = nullptr;
};

class Routes {
 public:
  void add(HttpRoute route) { http_.push_back(std::move(route)); }
  void add(RpcMethod method) { rpc_.push_back(std::move(method)); }
  const std::vector<HttpRoute>& http() const { return http_; }
  const std::vector<RpcMethod>& rpc() const { return rpc_; }

 private:
  std::vector<HttpRoute> http_;
  std::vector<RpcMethod> rpc_;
};

// {"code": "invalid_argument", "message": "…; hint"}: the words and numbers of Connect, which the
// native API shares.
int http_status_of(ErrorCode code);
std::string_view connect_code_of(ErrorCode code);
HttpResponse error_response(const Error& error);
HttpResponse error_response(const Error& error, int status);
HttpResponse json_response(std::string body);

}  // namespace vesta::server
