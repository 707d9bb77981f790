#include <algorithm>

#include "cli/build_info.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/private_files.h"
#include "cli/roles/agent_role.h"
#include "cli/roles/role_signals.h"
#include "cli/roles/server_flags.h"
#include "cli/roles/state_folder.h"

namespace vesta::cli {
namespace {

constexpr auto kAgentGrace = std::chrono::seconds(10);
constexpr const char* kDefaultReceiver = "127.0.0.1:4317";

// Where nobody says where profiles go, they go to a server.
void add_default_exporter(agent::AgentConfig& config, const Arguments& arguments) {
  if (!arguments.has("endpoint") && (!config.exporters.empty() || config.jfr.log_export)) return;
  agent::ExporterConfig exporter;
  exporter.name = "server";
  exporter.kind = agent::ExporterKind::kOtlpGrpc;
  exporter.endpoint = arguments.has("endpoint") ? arguments.get("endpoint") : kDefaultReceiver;
  if (exporter.endpoint.starts_with("http://") || exporter.endpoint.starts_with("https://")) {
    exporter.kind = agent::ExporterKind::kOtlpHttp;
    // A URL without a path means the usual one.
    const size_t path = exporter.endpoint.find('/', exporter.endpoint.find("//") + 2);
    if (path == std::string::npos || path + 1 == exporter.endpoint.size())
      exporter.endpoint = exporter.endpoint.substr(0, path) + "/v1development/profiles";
  }
  std::erase_if(config.exporters, [](const auto& other) { return other.name == "server"; });
  config.exporters.push_back(std::move(exporter));
}

Result<int> run_agent(const Arguments& arguments, Console& /*console*/) {
  keep_files_private();
  const std::vector<FlagKey> keys = agent_flag_keys();
  VESTA_ASSIGN(Configuration configuration, agent_configuration(arguments, keys));
  const auto complete = [&](agent::AgentConfig& config) {
    add_default_exporter(config, arguments);
  };
  complete(configuration.agent);
  Log log(stderr, configuration.server.log_format, configuration.server.log_level);
  log_warnings(configuration.findings, log);

  agent::AgentParts parts;
  parts.version = build_info().version;
  parts.state = default_state_folder() + "/agent";
  parts.cache_folder =
      (configuration.agent.state.empty() ? parts.state : configuration.agent.state) + "/unwind";
  RoleSignals signals;
  agent::AgentApp app(configuration.agent, std::move(parts), log);
  VESTA_TRY(app.start());
  log.info("profiling this host",
           {{"rate", std::to_string(configuration.agent.profiling.sample_rate) + " Hz"},
            {"metrics", app.metrics_address()}});
  signals.wait([&] { reload_agent(app, arguments, keys, complete, log); });
  log.info("stopping: sending the remaining profiles");
  app.stop(kAgentGrace);
  log.info("stopped");
  return kOk;
}

}  // namespace

Command agent_command() {
  Command c;
  c.name = "agent";
  c.summary = "Profile every process of this host continuously";
  c.description =
      "Samples the whole host and sends one profile per process every ten seconds. Exporters in "
      "the configuration send OTLP, Pyroscope's protocols, or write files. Profiles wait on disk "
      "while the server is unavailable. SIGHUP reloads the configuration; SIGTERM and Ctrl-C send "
      "the remaining profiles and stop. Needs root or the capabilities that `vesta doctor` names, "
      "and drops unneeded privileges once it runs.";
  c.examples = {"vesta agent", "vesta agent --endpoint profiles.example:4317",
                "vesta agent --endpoint https://profiles.example:4318",
                "vesta agent --config /etc/vesta.yaml"};
  c.max_arguments = 0;
  c.flags = {{"config", 'c', "FILE", "YAML configuration file"},
             {"endpoint", 0, "ADDR",
              "send by OTLP to host:port (gRPC) or a URL (HTTP) (default: "
              "127.0.0.1:4317, when the configuration has no exporters)"}};
  c.flags = with_flags(std::move(c.flags), {agent_flags(), log_flags()});
  c.run = run_agent;
  return c;
}

}  // namespace vesta::cli
