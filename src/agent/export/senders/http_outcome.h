// What an answer means for the payload it is about: sent, try again (when?), give up, cut it. Pure
// functions over bytes from the network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/export/codecs/payload.h"
#include "base/result.h"
#include "base/time.h"
#include "net/http_client.h"

namespace vesta::agent {

// Retry-After: "120" or "Sun, 06 Nov 1994 08:49:37 GMT", as the time from `now` on; never
// negative. None when it is neither.
std::optional<int64_t> parse_retry_after(std::string_view text, UnixNs now);

// By the status alone; a 2xx is kSent, and its body is the caller's to judge.
SendOutcome outcome_of(const Result<HttpAnswer>& answer, UnixNs now);

// The words in the body of a refusal, one line of at most some hundred bytes: the `message` of JSON
// or of a google.rpc.Status, or the text itself.
std::string refusal_text(const HttpAnswer& answer);

// Export…ServiceResponse of any signal of OTLP, protobuf or JSON.
struct OtlpResponse {
  uint64_t rejected = 0;  // in the signal's own unit
  std::string message;
};
// None when it is no such message.
std::optional<OtlpResponse> parse_otlp_response(std::string_view body, bool is_json);

// google.rpc.RetryInfo among the details of a status (google.rpc.Status, protobuf).
std::optional<int64_t> retry_delay_of(std::string_view status_details);

}  // namespace vesta::agent
