// gRPC and gRPC-Web for unary calls, as requests and responses of HTTP: one message in, one out,
// each with a prefix of five bytes, and the status behind them. gRPC needs HTTP/2 for its trailers;
// gRPC-Web has them in the body, and works over HTTP/1.1, too. Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "server/api.h"
#include "server/memory_budget.h"
#include "server/rpc/connect.h"

namespace vesta::server {

enum class GrpcForm : uint8_t { kGrpc, kWeb, kWebText };

struct GrpcType {
  GrpcForm form = GrpcForm::kGrpc;
  RpcCodec codec = RpcCodec::kProto;
};

// A header of a response whose name begins so is a trailer without it. Only HTTP/2 has them, and
// only requests of HTTP/2 get such answers.
inline constexpr std::string_view kTrailerPrefix = "trailer:";

// "application/grpc", "application/grpc-web+proto", …; none for what is not gRPC, or has messages
// in a form that we do not know.
std::optional<GrpcType> grpc_type_of(std::string_view content_type);

// Calls the method's handler with the message of the body. Failures, the handler's own too, are
// statuses of gRPC; `status` of the response is what they are in HTTP, for metrics. `lease` covers
// the body, and grows with what is unpacked.
HttpResponse handle_grpc(const GrpcType& type, const RpcMethod& method, HttpRequest& request,
                         const Caller& caller, uint64_t max_decoded_bytes,
                         MemoryBudget::Lease& lease);

// An error_response(), such as 401, as a client of gRPC expects it.
HttpResponse grpc_failure(const GrpcType& type, const HttpResponse& response);

bool is_grpc(const HttpResponse& response);

// The status that goes out: gRPC is always 200.
int sent_status(const HttpResponse& response);

}  // namespace vesta::server
