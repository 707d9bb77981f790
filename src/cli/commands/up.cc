#include <fmt/format.h>

#include "agent/export/in_process/in_process_exporter.h"
#include "cli/build_info.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/private_files.h"
#include "cli/roles/agent_role.h"
#include "cli/roles/local_agent.h"
#include "cli/roles/role_signals.h"
#include "cli/roles/server_flags.h"
#include "cli/roles/server_role.h"
#include "cli/roles/state_folder.h"

namespace vesta::cli {
namespace {

constexpr auto kLocalAgentGrace = std::chrono::seconds(10);

std::vector<FlagKey> keys_of_both() {
  std::vector<FlagKey> keys = agent_flag_keys();
  const std::vector<FlagKey> more = server_flag_keys();
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

Result<int> run_up(const Arguments& arguments, Console& console) {
  keep_files_private();
  const std::vector<FlagKey> keys = keys_of_both();
  VESTA_ASSIGN(Configuration configuration, agent_configuration(arguments, keys));
  server::ServerConfig& config = configuration.server;
  apply_server_switches(arguments, config);
  if (configuration.findings.origin_of("server.data").source == config::Source::kDefault)
    config.data = default_state_folder();
  Log log(stderr, config.log_format, config.log_level);
  log_warnings(configuration.findings, log);

  RoleSignals signals;
  server::ServerParts server_side = server_parts(log);
  RunningAgent running;
  server_side.local_agent = [&running] { return running.describe(); };
  Ingest* ingest = nullptr;
  server_side.add_routes = [&](server::Routes&, Engine&, Ingest& opened) { ingest = &opened; };
  server::ServerApp server(config, std::move(server_side), log);
  VESTA_TRY(server.start());
  {
    agent::AgentParts parts;
    parts.version = build_info().version;
    parts.state = config.data + "/agent";
    parts.cache_folder = parts.state + "/unwind";
    parts.folders = {config.data, config.data + "/store", config.backups};
    parts.is_alone = false;
    parts.exporter = std::make_unique<agent::InProcessExporter>(*ingest);
    agent::AgentApp agent(configuration.agent, std::move(parts), log);
    VESTA_TRY(agent.start());
    announce_server(server, config, log);
    const std::string url = server_url(server, config);
    VESTA_TRY(console.print(fmt::format("Vesta profiles this host: {}\n",
                                        url.empty() ? "without a web address" : url)));
    {
      const RunningAgent::Shown shown(running, agent);
      signals.wait([&] {
        reload_agent(
            agent, arguments, keys, [](agent::AgentConfig&) {}, log);
      });
    }
    log.info("stopping: storing the last profiles, finishing requests in flight");
    agent.stop(kLocalAgentGrace);
  }
  stop_server(server, log);
  log.info("stopped");
  return kOk;
}

}  // namespace

Command up_command() {
  Command c;
  c.name = "up";
  c.summary = "Profile this host continuously and serve the web UI";
  c.description =
      "Runs `vesta agent` and `vesta server` in one process: profiles every process of this host, "
      "stores the profiles in the state directory, and serves them on 127.0.0.1. SIGTERM and "
      "Ctrl-C stop it without losing data; SIGHUP reloads the agent's part of the configuration.";
  c.examples = {"vesta up", "vesta up --data /var/lib/vesta --retention 30d",
                "vesta up --config /etc/vesta.yaml --rate 49"};
  c.max_arguments = 0;
  c.flags = with_flags(server_run_flags(), {agent_flags()});
  c.run = run_up;
  return c;
}

}  // namespace vesta::cli
