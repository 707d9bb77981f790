// The server about itself: whether it lives, what it counts, its own profile. Taking
// a profile comes as a function: the agent is a layer that the server may not
// know. Handlers are thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "server/api.h"

namespace vesta::server {

struct OpsParts {
  std::function<bool()> is_ready;
  // Why only a new start helps; empty when none is needed.
  std::function<std::string()> needs_restart;
  std::function<std::string()> metrics_text;
  Scope metrics_scope = Scope::kAdmin;  // they count over all tenants
  // A gzip pprof profile of this process; blocks for so long. Empty when this build cannot.
  std::function<Result<std::string>(std::chrono::seconds)> cpu_profile;
  std::string command_line;  // for /debug/pprof/cmdline: words, each ended by a zero byte
};

void add_ops_routes(Routes& routes, const OpsParts& parts);

}  // namespace vesta::server
