// Fetching something from a URL: http_call() for those who want the body of a good answer, and an
// error otherwise. Plain functions; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace vesta {

bool is_url(const std::string& source);

struct HttpGetOptions {
  uint64_t max_bytes = uint64_t{64} << 20;
  // From start to end; zero allows a minute and whatever `seconds=` in the URL asks for.
  std::chrono::milliseconds timeout{0};
  std::vector<std::pair<std::string, std::string>> headers;
  // Asked a few times a second; the transfer ends with kUnavailable once it is true.
  std::function<bool()> is_cancelled;
};

// The body of a 200 answer. Redirects are followed within http and https only.
Result<std::string> http_get(const std::string& url, const HttpGetOptions& options);
Result<std::string> http_get(const std::string& url, uint64_t max_bytes);

}  // namespace vesta
