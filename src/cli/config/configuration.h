// The configuration of every role, from one file, the environment and flags: the place where the
// keys of the server and those of the agent meet. Plain functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "agent/config/agent_config.h"
#include "cli/command.h"
#include "config/field.h"
#include "server/config/server_config.h"

namespace vesta::cli {

struct Configuration {
  server::ServerConfig server;
  agent::AgentConfig agent;
  config::Findings findings;
};

// All keys that a file may have, bound to `configuration`, which must outlive them.
config::Fields configuration_fields(Configuration& configuration);

// Adds what `path` says. The file's errors are among the findings, also that it cannot be read.
void read_configuration_file(Configuration& configuration, const std::string& path);

// A flag that sets one key.
struct FlagKey {
  const char* flag;
  std::string_view key;
};
// Flag > environment > file (--config) > default. The agent's part is not finished: whoever runs
// one calls agent::finish_agent_config.
Configuration configuration_of(const Arguments& arguments, std::span<const FlagKey> flags);

// What no single key can see, of both roles, for a configuration that is right so far.
void check_roles(Configuration& configuration);

}  // namespace vesta::cli
