// Flags of commands that run or look after a server, and the configuration that they, the
// environment and a file add up to. Plain functions.
#pragma once

#include <vector>

#include "cli/command.h"
#include "server/config/server_config.h"

namespace vesta::cli {

// --config and --data: where a server's things are.
std::vector<Flag> server_place_flags();
std::vector<Flag> server_run_flags();

// Flag > environment > file > default.
Result<server::ServerConfig> server_config_of(const Arguments& arguments);

}  // namespace vesta::cli
