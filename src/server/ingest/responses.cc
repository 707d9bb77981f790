#include "server/ingest/responses.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace vesta::server {

Status check_body_size(const Ingest& ingest, const Caller& caller, size_t body_bytes) {
  const TenantLimits& limits = ingest.limits(caller.tenant);
  // The transport has unpacked the body already, so that this is the larger of the two bounds.
  const uint64_t limit = std::max(limits.max_body_bytes, limits.max_decoded_bytes);
  if (body_bytes <= limit) return {};
  return Error{ErrorCode::kLimit,
               fmt::format("the body has {} bytes; the limit is {}", body_bytes, limit),
               "send smaller requests, or raise the tenant's max_body_bytes"};
}

Status begin_ingest(Ingest& ingest, IngestProtocol protocol, const Caller& caller,
                    size_t body_bytes) {
  auto& counts = ingest.counters().of(protocol);
  counts.requests.fetch_add(1, std::memory_order_relaxed);
  counts.bytes.fetch_add(body_bytes, std::memory_order_relaxed);
  return check_body_size(ingest, caller, body_bytes);
}

HttpResponse refusal(Ingest& ingest, IngestProtocol protocol, const Caller& caller,
                     const Error& error, int invalid_status) {
  ingest.counters().count_refusal(protocol, error.code);
  const bool is_invalid = error.code == ErrorCode::kInvalidInput;
  HttpResponse response =
      error_response(error, is_invalid ? invalid_status : http_status_of(error.code));
  if (error.code == ErrorCode::kTooMany)
    response.headers.emplace_back("retry-after",
                                  std::to_string(ingest.retry_after_s(caller.tenant)));
  return response;
}

}  // namespace vesta::server
