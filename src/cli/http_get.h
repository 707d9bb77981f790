// Fetching a profile from a URL, bounded in size and time. Plain function.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace vesta::cli {

bool is_url(const std::string& source);

// The body of a 200 answer. Redirects are followed within http and https only.
Result<std::string> http_get(const std::string& url, uint64_t max_bytes);

}  // namespace vesta::cli
