#include <cstdint>
#include <cstdlib>

#include "agent/status/status_page.h"

// Any head is a request or none; what is taken from it lies inside of it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view head(reinterpret_cast<const char*>(data), size);
  const auto request = vesta::agent::parse_status_request(head);
  if (!request) return 0;
  if (!request->path.starts_with('/') || request->path.find('?') != std::string_view::npos)
    std::abort();
  if (request->path.end() > head.end() || request->method.begin() != head.begin()) std::abort();
  return 0;
}
