// How gRPC reports a failure: a number, a text, and details that a client's library understands.
// Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace vesta::server {

// The numbers of gRPC's statuses that are not the code of an Error.
inline constexpr int kGrpcOk = 0;
inline constexpr int kGrpcUnknown = 2;
inline constexpr int kGrpcDeadlineExceeded = 4;

int grpc_code_of(ErrorCode code);
// "not_found": Connect has gRPC's codes, as words. kGrpcUnknown for others.
int grpc_code_of(std::string_view connect_code);
std::string grpc_message_of(const Error& error);
// Whether trying again may help.
bool is_passing(ErrorCode code);
// google.rpc.Status with a google.rpc.RetryInfo of one second, in protobuf: exporters of OTLP drop
// what was refused with RESOURCE_EXHAUSTED unless this says that trying again helps.
std::string grpc_retry_details(int code, std::string_view message);
// Text for the header grpc-message: printable ASCII as it is, all else as %XX.
std::string grpc_message_header(std::string_view message);

}  // namespace vesta::server
