// The keys of an agent's configuration: one line each in agent_fields.cc. Plain functions.
#pragma once

#include <functional>
#include <string>

#include "agent/config/agent_config.h"
#include "base/result.h"
#include "config/field.h"

namespace vesta::agent {

// All keys, bound to `config`, which must outlive them.
config::Fields agent_fields(AgentConfig& config);

using ReadFile = std::function<Result<std::string>(const std::string& path)>;
// At most 64 KiB.
Result<std::string> read_headers_file(const std::string& path);

// After the file, the environment and flags: checks what no single key can see, gives each exporter
// a name, adds those that log_export keys ask for, and reads files of headers with `read`.
void finish_agent_config(AgentConfig& config, config::Findings& findings,
                         const ReadFile& read = read_headers_file);

}  // namespace vesta::agent
