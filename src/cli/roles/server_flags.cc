#include "cli/roles/server_flags.h"

#include <array>
#include <utility>

#include "cli/common_flags.h"
#include "cli/config/configuration.h"

namespace vesta::cli {
namespace {

// Flags that set one key each.
constexpr auto kKeys = std::to_array<FlagKey>({
    {"data", "server.data"},
    {"backups", "server.backups"},
    {"http", "server.http"},
    {"grpc", "server.grpc"},
    {"otlp-http", "server.otlp_http"},
    {"tls-cert", "tls.cert"},
    {"tls-key", "tls.key"},
    {"tls-client-ca", "tls.client_ca"},
    {"retention", "retention.default"},
    {"max-disk", "retention.max_bytes"},
    {"log-level", "log.level"},
    {"log-format", "log.format"},
});

}  // namespace

std::vector<Flag> server_place_flags() {
  return {{"config", 'c', "FILE", "YAML configuration file"},
          {"data", 'D', "DIR", "data directory (default: vesta-data)"}};
}

std::vector<Flag> server_run_flags() {
  std::vector<Flag> flags = server_place_flags();
  const std::vector<Flag> more = {
      {"http", 0, "ADDR",
       "HTTP address: web UI, APIs, ingest (default: 127.0.0.1:4040; \"\" to disable)"},
      {"grpc", 0, "ADDR", "gRPC address (default: 127.0.0.1:4317; \"\" to disable)"},
      {"otlp-http", 0, "ADDR",
       "address of OTLP over HTTP (default: 127.0.0.1:4318; \"\" to disable)"},
      {"backups", 0, "DIR", "folder for `vesta backup` (default: backups disabled)"},
      {"tls-cert", 0, "FILE", "PEM certificate with its chain; reloaded when it changes"},
      {"tls-key", 0, "FILE", "PEM key of the certificate"},
      {"tls-client-ca", 0, "FILE", "require client certificates of this authority"},
      {"multi-tenant", 0, "", "take the tenant from the header X-Scope-OrgID if there is no token"},
      {"insecure-no-auth", 0, "", "accept all requests without a token, on any address"},
      {"retention", 0, "TIME", "how long to keep profiles: 30d; 0: forever (default)"},
      {"max-disk", 0, "SIZE", "delete the oldest profiles when the store is larger: 100GiB"}};
  flags.insert(flags.end(), more.begin(), more.end());
  for (Flag& flag : log_flags()) flags.push_back(std::move(flag));
  return flags;
}

std::vector<Flag> log_flags() {
  return {{"log-level",
           0,
           "LEVEL",
           "lowest level to log (default: info)",
           {"debug", "info", "warning", "error"}},
          {"log-format", 0, "FORMAT", "text (default) or json", {"text", "json"}}};
}

std::vector<FlagKey> server_flag_keys() {
  return {kKeys.begin(), kKeys.end()};
}

void apply_server_switches(const Arguments& arguments, server::ServerConfig& config) {
  if (arguments.has("multi-tenant")) config.multi_tenant = true;
  if (arguments.has("insecure-no-auth")) config.tokens = server::TokenPolicy::kOff;
}

Result<server::ServerConfig> server_config_of(const Arguments& arguments) {
  Configuration configuration = configuration_of(arguments, kKeys);
  VESTA_TRY(configuration.findings.status());
  server::ServerConfig& config = configuration.server;
  apply_server_switches(arguments, config);
  return std::move(config);
}

}  // namespace vesta::cli
