// The Connect protocol for unary calls over HTTP: one POST with a message, one answer with another,
// each as protobuf or as JSON. A pure function of its arguments; thread-safe.
#pragma once

#include <cstddef>

#include "server/api.h"

namespace vesta::server {

// A message in JSON costs several times its size while it is read.
inline constexpr size_t kMaxConnectJsonBytes = size_t{64} << 20;

enum class RpcCodec { kProto, kJson };

// Calls the method's handler with a message in this form, and returns the answer in the same.
// kUnsupported when the method has no JSON form.
Result<std::string> call_rpc(const RpcMethod& method, RpcCodec codec, const std::string& message,
                             const Caller& caller);

// Calls the method's handler with the body as protobuf, and with the headers and the deadline of
// the request in its Caller. Failures, the handler's own too, are {"code", "message"} with
// Connect's status; 405 for a method that is not POST, 415 for a type that is neither
// application/proto nor application/json.
HttpResponse handle_connect(const RpcMethod& method, const HttpRequest& request,
                            const Caller& caller);

}  // namespace vesta::server
