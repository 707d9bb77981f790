#include "cli/config/configuration.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "agent/config/agent_fields.h"
#include "config/yaml.h"
#include "server/config/server_fields.h"

namespace vesta::cli {

config::Fields configuration_fields(Configuration& configuration) {
  config::Fields fields = server::server_fields(configuration.server);
  std::ranges::move(agent::agent_fields(configuration.agent), std::back_inserter(fields));
  return fields;
}

void read_configuration_file(Configuration& configuration, const std::string& path) {
  const auto document = config::load_yaml(path);
  if (!document) return configuration.findings.add_error({}, document.error());
  config::read_document(*document, configuration_fields(configuration), configuration.findings);
  configuration.agent.file = path;
}

Configuration configuration_of(const Arguments& arguments, std::span<const FlagKey> flags) {
  Configuration configuration;
  const config::Fields fields = configuration_fields(configuration);
  if (arguments.has("config")) read_configuration_file(configuration, arguments.get("config"));
  config::read_environment([](const char* name) { return std::getenv(name); }, fields,
                           configuration.findings);
  for (const auto& [flag, key] : flags) {
    if (!arguments.has(flag)) continue;
    config::read_flag(std::string("--") + flag, key, arguments.get(flag), fields,
                      configuration.findings);
  }
  return configuration;
}

void check_roles(Configuration& configuration) {
  if (!configuration.findings.errors.empty()) return;
  if (const Status status = server::check_config(configuration.server); !status.ok()) {
    configuration.findings.add_error({}, status.error());
  }
  agent::finish_agent_config(configuration.agent, configuration.findings);
}

}  // namespace vesta::cli
