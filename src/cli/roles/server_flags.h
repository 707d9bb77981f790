// Flags of commands that run or look after a server, and the configuration that they, the
// environment and a file add up to. Plain functions.
#pragma once

#include <vector>

#include "cli/command.h"
#include "cli/config/configuration.h"
#include "server/config/server_config.h"

namespace vesta::cli {

// --config and --data: where a server's things are.
std::vector<Flag> server_place_flags();
std::vector<Flag> server_run_flags();
// Those of both that set one key each.
std::vector<FlagKey> server_flag_keys();
// --log-level and --log-format.
std::vector<Flag> log_flags();

// Flags that are no key.
void apply_server_switches(const Arguments& arguments, server::ServerConfig& config);

// Flag > environment > file > default.
Result<server::ServerConfig> server_config_of(const Arguments& arguments);

}  // namespace vesta::cli
