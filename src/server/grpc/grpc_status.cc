#include "server/grpc/grpc_status.h"

#include <algorithm>
#include <array>

#include "formats/protobuf/wire.h"
#include "server/api.h"

namespace vesta::server {

namespace {

constexpr std::array<std::string_view, 17> kWords = {
    "ok",        "canceled",       "unknown",           "invalid_argument",   "deadline_exceeded",
    "not_found", "already_exists", "permission_denied", "resource_exhausted", "failed_precondition",
    "aborted",   "out_of_range",   "unimplemented",     "internal",           "unavailable",
    "data_loss", "unauthenticated"};

}  // namespace

int grpc_code_of(ErrorCode code) {
  return grpc_code_of(connect_code_of(code));
}

int grpc_code_of(std::string_view connect_code) {
  const auto found = std::ranges::find(kWords, connect_code);
  return found == kWords.end() ? kGrpcUnknown : static_cast<int>(found - kWords.begin());
}

std::string grpc_message_of(const Error& error) {
  return error.hint.empty() ? error.message : error.message + "; " + error.hint;
}

bool is_passing(ErrorCode code) {
  return code == ErrorCode::kTooMany || code == ErrorCode::kUnavailable;
}

std::string grpc_retry_details(int code, std::string_view message) {
  WireWriter duration;
  duration.uint64(1, 1);
  WireWriter retry;
  retry.message(1, duration);
  WireWriter any;
  any.bytes(1, "type.googleapis.com/google.rpc.RetryInfo");
  any.bytes(2, retry.take());
  WireWriter status;
  status.uint64(1, static_cast<uint64_t>(code));
  status.bytes(2, message);
  status.message(3, any);
  return status.take();
}

std::string grpc_message_header(std::string_view message) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte <= 0x7E && c != '%') {
      out += c;
    } else {
      out += '%';
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
  return out;
}

}  // namespace vesta::server
