#include "cli/roles/server_role.h"
#include "cli/build_info.h"

#include <fmt/format.h>

#include "base/file.h"
#include "cli/roles/self_profile.h"
#include "cli/roles/stop_deadline.h"
#include "store/engines/engines.h"

namespace vesta::cli {
namespace {

// For requests in flight, and for all of it. What is between is for closing the store.
constexpr auto kServerGrace = std::chrono::seconds(15);
constexpr auto kStopTime = std::chrono::seconds(20);

std::string own_command_line() {
  const auto file = InputFile::open("/proc/self/cmdline", 1 << 20);
  return file ? std::string(file->bytes()) : std::string();
}

std::string url_of(const ListenAddress& address, bool tls) {
  ListenAddress shown = address;
  if (shown.every_address) shown.ip = "127.0.0.1";
  return fmt::format("{}://{}", tls ? "https" : "http", shown.text());
}

}  // namespace

server::ServerParts server_parts(Log& log) {
  server::ServerParts parts;
  parts.open_engine = [&log](const server::ServerConfig& settings) {
    return server_engine().open({.directory = settings.data + "/store",
                                 .warn = [&log](std::string_view text) { log.warn(text); }});
  };
  parts.cpu_profile = profile_this_process;
  parts.version = build_info().version;
  parts.command_line = own_command_line();
  return parts;
}

std::string server_url(const server::ServerApp& app, const server::ServerConfig& config) {
  const auto http = app.http_address();
  return http ? url_of(*http, config.tls.enabled()) : "";
}

void stop_server(server::ServerApp& app, Log& log) {
  const StopDeadline deadline(
      kStopTime, [&app] { return app.unfinished(); }, log);
  app.stop(kServerGrace);
}

void announce_server(const server::ServerApp& app, const server::ServerConfig& config, Log& log) {
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

}  // namespace vesta::cli
