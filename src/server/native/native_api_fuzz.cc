#include <cstdlib>
#include <string_view>

#include "server/native/test_call.h"

// A line of a request, "GET /api/v1/top?query=cpu{}", against a store with a little data: whatever
// it asks, there is an answer, and an error has a body.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 2048) return 0;
  static vesta::server::test::TestApi api;
  std::string_view line(reinterpret_cast<const char*>(data), size);
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return 0;
  const std::string_view method = line.substr(0, space);
  if (method == "DELETE") return 0;  // the next input wants something to find
  const auto response = api.try_call(line.substr(space + 1), method);
  if (!response) return 0;
  if (response->status != 200 && response->body.empty()) std::abort();
  if (response->status == 500) std::abort();
  return 0;
}
