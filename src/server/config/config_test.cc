#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "config/yaml.h"
#include "server/config/server_fields.h"

namespace vesta::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Status apply(ServerConfig& config, std::string_view text) {
  VESTA_ASSIGN(const config::Document document, config::parse_yaml(text, "vesta.yaml"));
  config::Findings findings;
  config::read_document(document, server_fields(config), findings);
  return findings.status();
}

// The error, or "".
std::string problem_with(std::string_view text) {
  ServerConfig config;
  const Status status = apply(config, text);
  if (status.ok()) return "";
  EXPECT_EQ(status.error().code, ErrorCode::kUsage);
  return status.error().message + "; " + status.error().hint;
}

constexpr std::string_view kFull = R"(
server:
  http: 127.0.0.1:0
  grpc: ""
  otlp_http:
  data: /var/lib/vesta
  max_connections: 500
  request_memory: 1GiB
  header_timeout: 5s
tls:
  cert: a.pem
  key: a.key
auth: {tokens: required, audit: false}
multi_tenant: true
limits:
  tenants:
    team-a:
      max_series: 10
  max_samples: 5000
  max_age: 7d
retention:
  default: 30d
  services:
    checkout: 90d
    batch: 0
  max_bytes: 10GiB
query: {memory: 64MiB, timeout: 10s, max_nodes: 1000}
log: {level: warning, format: json}
scrape_configs:
  - job_name: go
    static_configs: [{targets: ['127.0.0.1:6060']}]
)";

TEST(ConfigFile, SetsEverything) {
  ServerConfig config;
  const Status status = apply(config, kFull);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(config.http, "127.0.0.1:0");
  EXPECT_EQ(config.grpc, "");
  EXPECT_EQ(config.otlp_http, "");
  EXPECT_EQ(config.data, "/var/lib/vesta");
  EXPECT_EQ(config.http_limits.max_connections, 500U);
  EXPECT_EQ(config.http_limits.header_timeout, std::chrono::seconds(5));
  EXPECT_EQ(config.request_memory, uint64_t{1} << 30);
  EXPECT_EQ(config.tls.certificate, "a.pem");
  EXPECT_EQ(config.tokens, TokenPolicy::kRequired);
  EXPECT_FALSE(config.audit);
  EXPECT_TRUE(config.multi_tenant);
  EXPECT_EQ(config.limits.max_samples, 5000U);
  // A tenant has the limits of all, wherever they stand in the file, and its own.
  ASSERT_EQ(config.tenant_limits.size(), 1U);
  EXPECT_EQ(config.tenant_limits.at("team-a").max_samples, 5000U);
  EXPECT_EQ(config.tenant_limits.at("team-a").max_series, 10U);
  EXPECT_EQ(config.limits.max_age_ns, int64_t{7} * 86'400 * 1'000'000'000);
  ASSERT_EQ(config.retention.rules.size(), 3U);
  EXPECT_EQ(config.retention.max_bytes, uint64_t{10} << 30);
  EXPECT_EQ(config.query_timeout_ns, 10'000'000'000);
  EXPECT_EQ(config.log_format, LogFormat::kJson);
  ASSERT_EQ(config.scrape.jobs.size(), 1U);
  EXPECT_EQ(config.scrape.jobs[0].name, "go");
  EXPECT_TRUE(check_config(config).ok());
}

TEST(ConfigFile, ATenantsLimitsComeFromWhereThoseOfAllDo) {
  ServerConfig config;
  config::Findings findings;
  const auto document = config::parse_yaml(
      "limits:\n  max_series: 5\n  max_samples: 6\n  tenants: {a: {max_samples: 7}}\n", "f");
  ASSERT_TRUE(document.ok());
  config::read_document(*document, server_fields(config), findings);
  ASSERT_TRUE(findings.status().ok());
  EXPECT_EQ(findings.origin_of("limits.tenants.a.max_series").text(), "f:2");
  EXPECT_EQ(findings.origin_of("limits.tenants.a.max_samples").text(), "f:4");
  EXPECT_EQ(findings.origin_of("limits.tenants.a.max_age").text(), "default");
}

TEST(ConfigFile, AnEmptyOneChangesNothing) {
  EXPECT_EQ(problem_with(""), "");
  EXPECT_EQ(problem_with("# nothing\n"), "");
}

TEST(ConfigFile, ErrorsNameThePlace) {
  EXPECT_THAT(problem_with("server:\n  htpp: :1\n"), StartsWith("vesta.yaml:2:3: unknown key"));
  EXPECT_THAT(problem_with("server:\n  htpp: :1\n"), HasSubstr("did you mean server.http?"));
  EXPECT_THAT(problem_with("servr: {}\n"), HasSubstr("did you mean server?"));
  EXPECT_THAT(problem_with("limits:\n  max_sampels: 1\n"), HasSubstr("limits.max_samples"));
  EXPECT_THAT(problem_with("limits:\n  tenants:\n    a:\n      max_sampels: 1\n"),
              StartsWith("vesta.yaml:4:"));
  EXPECT_THAT(problem_with("limits:\n  tenants:\n    a|b: {}\n"), StartsWith("vesta.yaml:3:5:"));
  EXPECT_THAT(problem_with("query:\n  memory: lots\n"),
              StartsWith("vesta.yaml:2:11: query.memory: 'lots' is not a size"));
  EXPECT_THAT(problem_with("query:\n  memory: [1]\n"), StartsWith("vesta.yaml:2:11:"));
  EXPECT_THAT(problem_with("server: {http: nonsense}\n"), StartsWith("vesta.yaml:1:"));
  EXPECT_THAT(problem_with("log: {level: loud}\n"), HasSubstr("debug, info, warning or error"));
  EXPECT_THAT(problem_with("a: 1\na: 2\n"), HasSubstr("duplicate key 'a'"));
  EXPECT_THAT(problem_with("multi_tenant: true\nmulti_tenant: true\n"), HasSubstr("duplicate key"));
  EXPECT_THAT(problem_with("server: [1, 2]\n"), HasSubstr("must be a map of keys"));
  EXPECT_THAT(problem_with("- 1\n"), HasSubstr("not a map of keys"));
  EXPECT_THAT(problem_with("server: {\n"), StartsWith("vesta.yaml:"));
  EXPECT_THAT(problem_with("retention: {default: 5m}\n"), HasSubstr("one hour or more"));
  EXPECT_THAT(problem_with("retention: {defautl: 5d}\n"), HasSubstr("retention.default"));
  EXPECT_THAT(problem_with(std::string(100'000, '[')), HasSubstr("nested too deeply"));
}

TEST(Sources, AreFoldersWithAPrefix) {
  ServerConfig config;
  const Status status =
      apply(config,
            "server:\n  sources:\n    - {prefix: /build/app, folder: /srv/src/app}\n"
            "    - folder: /usr/src\n");
  ASSERT_TRUE(status.ok()) << status.error().message;
  ASSERT_EQ(config.sources.size(), 2U);
  EXPECT_EQ(config.sources[0].prefix, "/build/app");
  EXPECT_EQ(config.sources[0].folder, "/srv/src/app");
  EXPECT_EQ(config.sources[1].prefix, "");
  EXPECT_THAT(problem_with("server: {sources: [{folder: src}]}\n"), HasSubstr("starts with /"));
  EXPECT_NE(problem_with("server: {sources: [{prefix: /a}]}\n"), "");
  EXPECT_NE(problem_with("server: {sources: /usr/src}\n"), "");
}

TEST(Links, LeadWhereTheConfigurationSays) {
  ServerConfig config;
  const Status status = apply(config, R"(
server:
  ui:
    trace_link: https://tempo.example/trace/{trace_id}
    span_link: https://tempo.example/trace/{trace_id}?span={span_id}
    editor_link: vscode://file/{file}:{line}
    cost_per_core_hour: 0.048
    co2_per_core_hour: 11
)");
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(config.ui.trace_link, "https://tempo.example/trace/{trace_id}");
  EXPECT_EQ(config.ui.editor_link, "vscode://file/{file}:{line}");
  EXPECT_DOUBLE_EQ(config.ui.cost_per_core_hour, 0.048);
  EXPECT_DOUBLE_EQ(config.ui.co2_per_core_hour, 11);
}

TEST(Links, AreRefusedWhereTheyCouldRunOrLeadAstray) {
  const auto problem = [](std::string_view key, std::string_view link) {
    return problem_with(fmt::format("server: {{ui: {{{}: '{}'}}}}\n", key, link));
  };
  for (const std::string_view link :
       {"javascript:alert({trace_id})", "data:text/html,{trace_id}", "ftp://a/{trace_id}",
        "//host/{trace_id}", "vscode://file/{trace_id}", "https:///{trace_id}",
        "https://{trace_id}/", "https://a.{trace_id}/x", "https://user@host/{trace_id}",
        "https://host/a b{trace_id}", "https://host/\"{trace_id}", "https://host/"}) {
    EXPECT_NE(problem("trace_link", link), "") << link;
  }
  EXPECT_THAT(problem("trace_link", "https://h/{trace}"), HasSubstr("use {trace_id}"));
  EXPECT_NE(problem("trace_link", "https://h/{trace_id}/{"), "");
  EXPECT_NE(problem("trace_link", "https://h/}{trace_id}"), "");
  EXPECT_NE(problem("trace_link", "https://h/{trace_id}" + std::string(3000, 'a')), "");
  EXPECT_THAT(problem("span_link", "https://h/{trace_id}"), HasSubstr("the placeholder {span_id}"));
  EXPECT_NE(problem("editor_link", "javascript://{file}"), "");
  EXPECT_EQ(problem("editor_link", "idea://open?file={file}&line={line}"), "");
  EXPECT_EQ(problem("editor_link", "https://git.example/blob/main{file}#L{line}"), "");
  EXPECT_EQ(problem("editor_link", ""), "");
}

TEST(Settings, EnvironmentStandsAboveTheFile) {
  ServerConfig config;
  ASSERT_TRUE(apply(config, kFull).ok());
  const std::map<std::string, std::string> environment = {{"VESTA_SERVER_HTTP", "127.0.0.1:1"},
                                                          {"VESTA_MULTI_TENANT", "off"},
                                                          {"VESTA_LIMITS_MAX_SAMPLES", "7"}};
  const auto get = [&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
  config::Findings findings;
  read_environment(get, server_fields(config), findings);
  ASSERT_TRUE(findings.status().ok());
  EXPECT_EQ(config.http, "127.0.0.1:1");
  EXPECT_FALSE(config.multi_tenant);
  EXPECT_EQ(config.limits.max_samples, 7U);
  EXPECT_EQ(findings.origin_of("multi_tenant").text(), "VESTA_MULTI_TENANT");
  read_environment(
      [](const char* name) { return name == std::string("VESTA_QUERY_MEMORY") ? "x" : nullptr; },
      server_fields(config), findings);
  ASSERT_FALSE(findings.status().ok());
  EXPECT_THAT(findings.status().error().message, StartsWith("VESTA_QUERY_MEMORY: 'x' is not"));
}

TEST(Settings, HoldTogether) {
  ServerConfig config;
  config.tls.certificate = "a.pem";
  EXPECT_FALSE(check_config(config).ok());
  config.tls.key = "a.key";
  EXPECT_TRUE(check_config(config).ok());
  config.request_memory = 1000;
  EXPECT_FALSE(check_config(config).ok());
  ServerConfig nowhere;
  nowhere.http = nowhere.grpc = nowhere.otlp_http = "";
  EXPECT_FALSE(check_config(nowhere).ok());
}

}  // namespace
}  // namespace vesta::server
