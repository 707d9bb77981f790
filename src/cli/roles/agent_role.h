// An agent as the command line runs it: its flags, its configuration, and reading that again. Plain
// functions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/app/agent_app.h"
#include "cli/command.h"
#include "cli/config/configuration.h"

namespace vesta::cli {

// That set one key of the agent each.
std::vector<Flag> agent_flags();
std::vector<FlagKey> agent_flag_keys();

// What `arguments`, the environment and the file add up to, checked; warnings go to the log.
Result<Configuration> agent_configuration(const Arguments& arguments,
                                          std::span<const FlagKey> keys);
void log_warnings(const config::Findings& findings, Log& log);

// As `arguments` say now; what is wrong is logged, and all stays as it was.
void reload_agent(agent::AgentApp& app, const Arguments& arguments, std::span<const FlagKey> keys,
                  const std::function<void(agent::AgentConfig&)>& complete, Log& log);

}  // namespace vesta::cli
