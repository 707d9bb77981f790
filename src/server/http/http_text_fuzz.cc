#include <cstdlib>

#include "server/http/authority.h"
#include "server/http/http_text.h"
#include "server/rpc/router.h"

// Every part of a request's head that we read ourselves: what is decoded once is not decoded twice,
// and what is let through cannot break a header or a log.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vesta::server;  // NOLINT(google-build-using-namespace)
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto target = parse_target(text)) {
    std::string joined;
    for (const std::string& segment : target->segments) joined += "/" + segment;
    if (joined != target->path) std::abort();
    static const Routes kRoutes = [] {
      Routes routes;
      for (const char* path : {"/", "/a/{x}", "/a/b", "/{y}/{z}/c"}) {
        routes.add(HttpRoute{"GET", path, Scope::kRead, {}});
      }
      return routes;
    }();
    static const Router kRouter(kRoutes);
    const auto match = kRouter.find("GET", target->segments);
    for (const auto& [name, value] : match.path_fields) {
      if (value.empty()) std::abort();
    }
  }
  if (const auto host = parse_authority(text)) {
    if (host->host.empty() || host->host.find_first_of("@/? ") != std::string::npos) std::abort();
  }
  // What is hidden once stays hidden.
  const std::string shown = loggable_target(text);
  if (loggable_target(shown) != shown) std::abort();
  (void)accepts_encoding(text, "gzip");
  if (const auto secret = secret_of(text); secret && secret->size() > text.size()) std::abort();
  for (const char c : header_safe(text)) {
    if (c == '\r' || c == '\n') std::abort();
  }
  if (is_request_id(text) && header_safe(text) != text) std::abort();
  return 0;
}
