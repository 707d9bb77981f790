#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/private_files.h"
#include "cli/roles/role_signals.h"
#include "cli/roles/server_flags.h"
#include "cli/roles/server_role.h"

namespace vesta::cli {
namespace {

Result<int> run_server(const Arguments& arguments, Console& /*console*/) {
  keep_files_private();
  VESTA_ASSIGN(const server::ServerConfig config, server_config_of(arguments));
  Log log(stderr, config.log_format, config.log_level);
  RoleSignals signals;
  server::ServerApp app(config, server_parts(log), log);
  VESTA_TRY(app.start());
  announce_server(app, config, log);
  signals.wait([&] {
    log.info(
        "ignored SIGHUP: the server rereads certificates by itself; other settings need a restart");
  });
  log.info("stopping: finishing requests in flight");
  stop_server(app, log);
  log.info("stopped");
  return kOk;
}

}  // namespace

Command server_command() {
  Command c;
  c.name = "server";
  c.summary = "Store profiles and answer queries";
  c.description =
      "Accepts profiles from Pyroscope, OpenTelemetry and Parca clients and from anything that "
      "writes pprof, stores them in one directory, and answers queries. Listens on 127.0.0.1 by "
      "default; other addresses require tokens (vesta token create) and should use TLS. Every "
      "setting is a key of the configuration file and an environment variable (server.http is "
      "VESTA_SERVER_HTTP); common ones are flags. Flags take precedence over the environment, "
      "which takes precedence over the file. SIGTERM and Ctrl-C finish requests in flight and "
      "stop.";
  c.examples = {"vesta server", "vesta server --data /var/lib/vesta --retention 30d",
                "vesta server --http :4040 --tls-cert cert.pem --tls-key key.pem",
                "vesta server --config /etc/vesta.yaml --log-format json"};
  c.max_arguments = 0;
  c.flags = with_flags(server_run_flags(), {});
  c.run = run_server;
  return c;
}

}  // namespace vesta::cli
