// A profile of this very process, for /debug/pprof/profile. Blocks; one at a time.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"

namespace vesta::cli {

// Gzip pprof. kPermission when the process may not sample itself, with what is missing.
Result<std::string> profile_this_process(std::chrono::seconds time);

}  // namespace vesta::cli
