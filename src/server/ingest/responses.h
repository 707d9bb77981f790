// What all ways in share: counting a request, and the answer to one that was refused. Any thread.
#pragma once

#include <string_view>

#include "ingest/ingest.h"
#include "server/api.h"

namespace vesta::server {

// By this a client names what it sends, so that it may send it again when no answer came.
inline constexpr std::string_view kIdempotencyHeader = "idempotency-key";

// kLimit when the body is larger than the tenant may send.
Status check_body_size(const Ingest& ingest, const Caller& caller, size_t body_bytes);

// Counts the request and checks its size.
Status begin_ingest(Ingest& ingest, IngestProtocol protocol, const Caller& caller,
                    size_t body_bytes);

// {"code", "message"}; 429 says when to try again. `invalid_status` instead of 400.
HttpResponse refusal(Ingest& ingest, IngestProtocol protocol, const Caller& caller,
                     const Error& error, int invalid_status = 400);

}  // namespace vesta::server
