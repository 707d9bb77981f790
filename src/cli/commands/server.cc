#include <fmt/format.h>

#include <cstdio>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/record/interrupt.h"
#include "cli/server/self_profile.h"
#include "cli/server/server_flags.h"
#include "server/app/server_app.h"
#include "store/rocksdb/rocksdb_engine.h"

namespace vesta::cli {
namespace {

constexpr auto kGrace = std::chrono::seconds(20);
constexpr int kSignalCheckMs = 200;

std::string own_command_line() {
  const auto file = InputFile::open("/proc/self/cmdline", 1 << 20);
  return file ? std::string(file->bytes()) : std::string();
}

std::string url_of(const ListenAddress& address, bool tls) {
  ListenAddress shown = address;
  if (shown.every_address) shown.ip = "127.0.0.1";
  return fmt::format("{}://{}", tls ? "https" : "http", shown.text());
}

void announce(const server::ServerApp& app, const server::ServerConfig& config, Log& log) {
  const bool tls = config.tls.enabled();
  if (const auto http = app.http_address()) {
    log.info(fmt::format("listening on {}", url_of(*http, tls)), {{"what", "UI, APIs, ingest"}});
  }
  if (const auto grpc = app.grpc_address()) {
    log.info(fmt::format("listening on {}", grpc->text()), {{"what", "gRPC"}});
  }
  if (const auto otlp = app.otlp_http_address()) {
    log.info(fmt::format("listening on {}/v1development/profiles", url_of(*otlp, tls)),
             {{"what", "OTLP"}});
  }
  log.info("ready", {{"data", config.data}, {"tokens", app.tokens_required() ? "required" : "no"}});
}

Result<int> run(const Arguments& arguments, Console& /*console*/) {
  VESTA_ASSIGN(const server::ServerConfig config, server_config_of(arguments));
  Log log(stderr, config.log_format, config.log_level);
  server::ServerParts parts;
  parts.open_engine = [&log](const server::ServerConfig& settings) {
    RocksdbOptions options;
    options.directory = settings.data + "/store";
    options.warn = [&log](std::string_view message) { log.warn(message); };
    return open_rocksdb_engine(options);
  };
  parts.cpu_profile = profile_this_process;
  parts.version = VESTA_VERSION;
  parts.command_line = own_command_line();

  const Interrupt interrupt;
  server::ServerApp app(config, std::move(parts), log);
  VESTA_TRY(app.start());
  announce(app, config, log);
  while (!Interrupt::came()) Interrupt::wait(kSignalCheckMs);
  log.info("stopping: requests in flight may end");
  app.stop(kGrace);
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
