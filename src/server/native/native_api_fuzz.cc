#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/native/test_call.h"

namespace {

// "file=@" and "baseline_file=@" are about a file that is open; no input could guess its id.
std::string with_file(std::string_view url, const std::string& id) {
  constexpr std::string_view kPlace = "file=@";
  std::string out(url);
  for (size_t at = out.find(kPlace); at != std::string::npos; at = out.find(kPlace, at + 1))
    out.replace(at + kPlace.size() - 1, 1, id);
  return out;
}

}  // namespace

// A line of a request, "GET /api/v1/top?query=cpu{}", against a store with a little data, and below
// it a body: whatever it asks, there is an answer, and an error has a body.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096) return 0;
  static vesta::server::test::TestApi api;
  std::string_view line(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(line.find('\n'), line.size());
  const std::string body(line.substr(std::min(end + 1, line.size())));
  line = line.substr(0, end);
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return 0;
  const std::string_view method = line.substr(0, space);
  if (method == "DELETE") return 0;  // the next input wants something to find
  // Again each time: files that inputs open push it out.
  const std::string file = api.open_file("a.folded", "main;work 3\nmain;idle 4\n");
  const auto response = api.try_call(with_file(line.substr(space + 1), file), method, body);
  if (!response) return 0;
  if (response->status != 200 && response->body.empty()) std::abort();
  if (response->status == 500) std::abort();
  return 0;
}
