// Any bytes as an answer of a receiver: judged without a crash, with bounded words.
#include <cstdlib>

#include "agent/export/senders/http_outcome.h"
#include "base/time.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vesta::agent;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool is_json : {false, true}) {
    const auto response = parse_otlp_response(bytes, is_json);
    if (response && response->message.size() > 1024) std::abort();
  }
  const auto delay = retry_delay_of(bytes);
  if (delay && *delay < 0) std::abort();
  const auto wait = parse_retry_after(bytes, vesta::UnixNs(1'800'000'000 * vesta::kSecond));
  if (wait && *wait < 0) std::abort();
  for (const char* type : {"application/json", "application/x-protobuf", "text/plain"}) {
    const vesta::HttpAnswer answer{400, std::string(bytes), {{"content-type", type}}};
    if (refusal_text(answer).size() > 1024) std::abort();
  }
  return 0;
}
