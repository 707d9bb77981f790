#include "cli/roles/agent_role.h"

#include "agent/config/agent_fields.h"

namespace vesta::cli {

std::vector<Flag> agent_flags() {
  return {{"rate", 'F', "HZ", "samples per second and CPU (default: 99)"},
          {"window", 0, "TIME", "length of one profile (default: 10s)"},
          {"state", 0, "DIR", "folder for queues (default: below the state directory)"},
          {"metrics", 0, "ADDR",
           "address of /metrics and /healthz (default: 127.0.0.1:4041; \"\" to disable)"}};
}

std::vector<FlagKey> agent_flag_keys() {
  return {{"rate", "agent.profiling.sample_rate"},
          {"window", "agent.profiling.duration"},
          {"state", "agent.state"},
          {"metrics", "agent.metrics"},
          {"log-level", "log.level"},
          {"log-format", "log.format"}};
}

Result<Configuration> agent_configuration(const Arguments& arguments,
                                          std::span<const FlagKey> keys) {
  Configuration configuration = configuration_of(arguments, keys);
  VESTA_TRY(configuration.findings.status());
  agent::finish_agent_config(configuration.agent, configuration.findings);
  VESTA_TRY(configuration.findings.status());
  return configuration;
}

void log_warnings(const config::Findings& findings, Log& log) {
  for (const config::Finding& finding : findings.warnings) log.warn(finding.error.message);
}

void reload_agent(agent::AgentApp& app, const Arguments& arguments, std::span<const FlagKey> keys,
                  const std::function<void(agent::AgentConfig&)>& complete, Log& log) {
  auto configuration = agent_configuration(arguments, keys);
  Status done = configuration.ok() ? Status() : Status(configuration.error());
  if (done.ok()) {
    log_warnings(configuration->findings, log);
    complete(configuration->agent);
    done = app.reload(std::move(configuration->agent));
  }
  if (done.ok()) {
    log.info("configuration reloaded");
  } else {
    log.error("configuration not reloaded",
              {{"why", done.error().message}, {"hint", done.error().hint}});
  }
}

}  // namespace vesta::cli
