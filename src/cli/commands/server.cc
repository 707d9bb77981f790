#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/private_files.h"
#include "cli/roles/role_signals.h"
#include "cli/roles/server_flags.h"
#include "cli/roles/server_role.h"

namespace vesta::cli {
namespace {

Result<int> run(const Arguments& arguments, Console& /*console*/) {
  keep_files_private();
  VESTA_ASSIGN(const server::ServerConfig config, server_config_of(arguments));
  Log log(stderr, config.log_format, config.log_level);
  RoleSignals signals;
  server::ServerApp app(config, server_parts(log), log);
  VESTA_TRY(app.start());
  announce_server(app, config, log);
  signals.wait(
      [&] { log.info("a server reads certificates again by itself, all else at its start"); });
  log.info("stopping: requests in flight may end");
  stop_server(app, log);
  log.info("stopped");
  return kOk;
}

}  // namespace

Command server_command() {
  Command c;
  c.name = "server";
  c.summary = "Store profiles and answer questions about them";
  c.description =
      "Takes profiles from Pyroscope, OpenTelemetry and Parca clients and from anything that "
      "writes "
      "pprof, keeps them in one directory, and answers queries. Listens on this machine alone "
      "unless told otherwise; to listen wider it wants tokens (vesta token create) and should have "
      "TLS. Every setting is a key of the configuration file, an environment variable "
      "(server.http is VESTA_SERVER_HTTP), and the common ones a flag; flags win over the "
      "environment, which wins over the file. SIGTERM and Ctrl-C let requests in flight end.";
  c.examples = {"vesta server", "vesta server --data /var/lib/vesta --retention 30d",
                "vesta server --http :4040 --tls-cert cert.pem --tls-key key.pem",
                "vesta server --config /etc/vesta.yaml --log-format json"};
  c.max_arguments = 0;
  c.flags = with_flags(server_run_flags(), {});
  c.run = run;
  return c;
}

}  // namespace vesta::cli
