#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "agent/config/agent_fields.h"
#include "base/labels.h"
#include "config/show.h"
#include "config/yaml.h"

namespace vesta::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

config::Findings read(AgentConfig& config, std::string_view text) {
  config::Findings findings;
  const auto document = config::parse_yaml(text, "f");
  if (document.ok()) {
    config::read_document(*document, agent_fields(config), findings);
  } else {
    findings.add_error({}, document.error());
  }
  if (findings.status().ok()) {
    finish_agent_config(config, findings, [](const std::string& path) -> Result<std::string> {
      if (path == "secrets") return std::string("# of the team\nAuthorization: Bearer abc\nX-A: 9");
      return Error{ErrorCode::kNotFound, "cannot open " + path, {}};
    });
  }
  return findings;
}

std::string problem_with(std::string_view text) {
  AgentConfig config;
  const Status status = read(config, text).status();
  return status.ok() ? "" : status.error().message + "; " + status.error().hint;
}

constexpr std::string_view kFull = R"(
agent:
  state: /var/lib/vesta
  metrics: 127.0.0.1:9000
  reduce_privileges: false
  targets:
    include:
      - executable: /usr/bin/python3*
      - {namespace: shop, pod_labels: {app: checkout}}
    exclude:
      - pid: 1
  service_names:
    - name: edge
      match: {executable: nginx, container: "abc*"}
  labels: {region: eu, team: core}
  environment: [GIT_SHA]
  relabel:
    - {source_labels: [k8s.namespace.name], regex: kube-.*, action: drop}
  exporters:
    - type: otlp
      endpoint: https://collector:4317
      headers: {x-scope-orgid: a, X-A: own}
      headers_file: secrets
      tls: {ca: ca.pem, cert: c.pem, key: k.pem}
      compression: none
      timeout: 5s
      queue: {max_bytes: 64MB, max_age: 6h}
    - type: otlp_http
    - {type: otlp_http, name: second, endpoint: "http://b:1/custom"}
    - {type: pyroscope, upload_interval: 60s}
    - {type: files, directory: /tmp/p, max_files: 10, max_bytes: 10MB}
    - {type: otlp_logs, endpoint: "http://c:4318/"}
    - type: otlp
  kubernetes: {kubelet: "https://127.0.0.1:10250", node: n1}
  limits: {cpu: 0.5%, min_rate: 7, memory: 128MB}
profiles: {jfr: {enabled: true, input_dirs: [/a, /b], recursive: false}}
)";

TEST(AgentConfig, SetsEverything) {
  AgentConfig config;
  const config::Findings findings = read(config, kFull);
  ASSERT_TRUE(findings.status().ok()) << findings.status().error().message;
  EXPECT_EQ(config.state, "/var/lib/vesta");
  EXPECT_EQ(config.metrics, "127.0.0.1:9000");
  EXPECT_FALSE(config.reduce_privileges);
  ASSERT_EQ(config.targets.include.size(), 2U);
  EXPECT_EQ(config.targets.include[0].executable, "/usr/bin/python3*");
  EXPECT_EQ(config.targets.include[1].k8s_namespace, "shop");
  EXPECT_THAT(config.targets.include[1].pod_labels, ElementsAre(Pair("app", "checkout")));
  EXPECT_EQ(config.targets.exclude.at(0).pid, 1U);
  EXPECT_EQ(config.service_names.at(0).name, "edge");
  EXPECT_EQ(config.service_names.at(0).match.container, "abc*");
  EXPECT_THAT(config.labels, ElementsAre(Pair("region", "eu"), Pair("team", "core")));
  EXPECT_THAT(config.environment, ElementsAre("GIT_SHA"));
  ASSERT_EQ(config.relabel.size(), 1U);
  Labels labels = {{"k8s.namespace.name", "kube-system"}};
  EXPECT_FALSE(relabel(config.relabel, labels));
  EXPECT_EQ(config.kubernetes.kubelet, "https://127.0.0.1:10250");
  EXPECT_DOUBLE_EQ(config.limits.cpu_share, 0.005);
  EXPECT_EQ(config.limits.min_rate, 7U);
  EXPECT_EQ(config.limits.memory_bytes, uint64_t{128} << 20);
  EXPECT_FALSE(config.jfr.recursive);
}

TEST(AgentConfig, TheCpuBudgetGrowsWithTheHostUnlessItIsSet) {
  AgentLimits limits;
  EXPECT_DOUBLE_EQ(cpu_budget(limits, 1), 0.01);
  EXPECT_DOUBLE_EQ(cpu_budget(limits, 4), 0.01);
  EXPECT_DOUBLE_EQ(cpu_budget(limits, 64), 0.16);
  AgentConfig config;
  ASSERT_TRUE(read(config, "agent: {limits: {cpu: 0.5%}}").status().ok());
  EXPECT_DOUBLE_EQ(cpu_budget(config.limits, 64), 0.005);
  ASSERT_TRUE(read(config, "agent: {limits: {cpu: auto}}").status().ok());
  EXPECT_DOUBLE_EQ(cpu_budget(config.limits, 64), 0.16);
  EXPECT_FALSE(read(config, "agent: {limits: {cpu: many}}").status().ok());
}

TEST(AgentConfig, ExportersHaveNamesAndEndpoints) {
  AgentConfig config;
  ASSERT_TRUE(read(config, kFull).status().ok());
  ASSERT_EQ(config.exporters.size(), 7U);
  std::vector<std::pair<std::string, std::string>> all;
  for (const ExporterConfig& exporter : config.exporters) {
    all.emplace_back(exporter.name, exporter.endpoint);
  }
  EXPECT_THAT(all, ElementsAre(Pair("otlp", "https://collector:4317"),
                               Pair("otlp_http", "http://localhost:4318/v1development/profiles"),
                               Pair("second", "http://b:1/custom"),
                               Pair("pyroscope", "http://localhost:4040"), Pair("files", ""),
                               Pair("otlp_logs", "http://c:4318/v1/logs"),
                               Pair("otlp-2", "localhost:4317")));
  const ExporterConfig& first = config.exporters[0];
  EXPECT_FALSE(first.gzip);
  EXPECT_EQ(first.timeout_ns, 5'000'000'000);
  EXPECT_EQ(first.queue_bytes, uint64_t{64} << 20);
  EXPECT_EQ(first.queue_age_ns, int64_t{6} * 3600 * 1'000'000'000);
  // The file adds what the configuration does not have itself.
  EXPECT_THAT(first.headers, ElementsAre(Pair("x-scope-orgid", "a"), Pair("X-A", "own"),
                                         Pair("Authorization", "Bearer abc")));
  EXPECT_EQ(config.exporters[3].upload_interval_ns, 60'000'000'000);
}

TEST(AgentConfig, ATypoIsAnsweredWithPlaceAndSuggestion) {
  EXPECT_THAT(problem_with("agent:\n  profiling:\n    sampel_rate: 99\n"),
              StartsWith("f:3:5: unknown key 'agent.profiling.sampel_rate'; did you mean "
                         "agent.profiling.sample_rate?"));
  EXPECT_THAT(problem_with("agnet: {}\n"),
              HasSubstr("f:1:1: unknown key 'agnet'; did you mean agent?"));
  EXPECT_THAT(problem_with("agent: {sample_rate: 9}\n"),
              HasSubstr("did you mean agent.profiling.sample_rate?"));
  EXPECT_THAT(problem_with("agent: {exporters: [{type: otpl}]}\n"),
              HasSubstr("agent.exporters[0].type: 'otpl' is not otlp, otlp_http"));
}

TEST(AgentConfig, RangesAreChecked) {
  for (const char* bad :
       {"sample_rate: 0", "sample_rate: 10001", "sample_rate: fast", "duration: 999ms",
        "duration: 2h", "upload_interval: 10ms", "memory_mode: both", "off_cpu: maybe", "wall: 1s",
        "block: 2", "filters: {exclude_patterns: runtime}", "filters: {min_samples: -1}",
        "symbols: [a]"}) {
    EXPECT_THAT(problem_with(std::string("agent: {profiling: {") + bad + "}}"), StartsWith("f:1:"))
        << bad;
  }
  for (const char* bad :
       {"limits: {cpu: 0}", "limits: {min_rate: 200}", "limits: {memory: 1MB}", "metrics: nowhere",
        "metrics: '1.2.3.4:99999'", "environment: ['A B']", "labels: {'': x}",
        "targets: {include: [{}]}", "targets: {include: [{pod_labels: {}}]}",
        "targets: {include: [{pid: 0}]}", "service_names: [{name: a}]",
        "kubernetes: {api_server: somewhere}", "relabel: [{regex: '('}]", "relabel: {}"}) {
    EXPECT_THAT(problem_with(std::string("agent: {") + bad + "}"), StartsWith("f:1:")) << bad;
  }
  EXPECT_EQ(problem_with("agent: {profiling: {duration: 10s, upload_interval: 1s}}"), "");
  EXPECT_EQ(problem_with("agent: {profiling: {sample_rate: 7}}"), "") << "below the usual least";
}

TEST(AgentConfig, AnExporterMustMakeSense) {
  const auto problem = [](const std::string& exporter) {
    return problem_with("agent: {exporters: [" + exporter + "]}");
  };
  EXPECT_THAT(problem("{}"), HasSubstr("agent.exporters[0]: type is missing"));
  EXPECT_THAT(problem("{type: files}"), HasSubstr("directory is missing"));
  EXPECT_THAT(problem("{type: files, directory: a, endpoint: b}"), HasSubstr("no such key"));
  EXPECT_THAT(problem("{type: otlp, max_bytes: 1GB}"), HasSubstr("queue.max_bytes"));
  EXPECT_THAT(problem("{type: otlp, endpoint: 'a'}"), HasSubstr("a host and its port"));
  EXPECT_THAT(problem("{type: otlp, endpoint: 'http://a:1/path'}"), HasSubstr("no path"));
  EXPECT_THAT(problem("{type: otlp_http, endpoint: 'a:4318'}"), HasSubstr("http://HOST:PORT"));
  EXPECT_THAT(problem("{type: pyroscope, endpoint: 'http://u:p@a'}"),
              HasSubstr("must not contain a user or password"));
  EXPECT_THAT(problem("{type: otlp, tls: {cert: a}}"), HasSubstr("must be set together"));
  EXPECT_THAT(problem("{type: otlp, name: ../x}"), HasSubstr("a name for an exporter"));
  EXPECT_THAT(problem("{type: otlp, name: a}, {type: otlp, name: a}"),
              HasSubstr("f:1:63: agent.exporters[1].name: two exporters have the name 'a'"));
  EXPECT_THAT(problem("{type: otlp, headers_file: none}"),
              HasSubstr("agent.exporters[0].headers_file: cannot open none"));
  EXPECT_THAT(problem("{type: otlp, headers: {'a b': c}}"), HasSubstr("the name of a header"));
  const std::string secret = problem("{type: otlp, headers: {a: \"tok\\nen\"}}");
  EXPECT_THAT(secret, HasSubstr("one line"));
  EXPECT_THAT(secret, ::testing::Not(HasSubstr("tok")));
}

TEST(AgentConfig, BothNamesOfProfilingMayBeGiven) {
  AgentConfig config;
  config::Findings findings =
      read(config,
           "agent: {profiling: {cpu: true}}\nprofiling: {enabled: false, cpu: {enabled: true}}\n");
  EXPECT_TRUE(findings.status().ok());
  EXPECT_TRUE(findings.warnings.empty());
  EXPECT_FALSE(config.profiling.enabled);
  findings = read(config, "agent: {profiling: {enabled: true}}\nprofiling: {enabled: false}\n");
  EXPECT_TRUE(config.profiling.enabled);
  EXPECT_EQ(findings.warnings.size(), 1U);
}

TEST(AgentConfig, VariablesHaveOneMeaningEach) {
  AgentConfig config;
  std::set<std::string> names;
  for (const config::Field& field : agent_fields(config)) {
    EXPECT_TRUE(names.insert(config::environment_name(field.key)).second) << field.key;
  }
  EXPECT_TRUE(names.contains("VESTA_AGENT_PROFILING_SAMPLE_RATE"));
}

// Found by the fuzzer: conditions that were not given were shown as empty ones.
TEST(AgentConfig, WhatIsShownLoadsAgain) {
  AgentConfig config;
  ASSERT_TRUE(read(config, kFull).status().ok());
  const config::Node tree = config::show_fields(agent_fields(config));
  const std::string yaml = config::show_yaml(tree, {});
  AgentConfig again;
  const config::Findings findings = read(again, yaml);
  ASSERT_TRUE(findings.status().ok()) << findings.status().error().message << yaml;
  EXPECT_EQ(config::show_yaml(config::show_fields(agent_fields(again)), {}), yaml);
}

TEST(AgentConfig, ShowsNoSecrets) {
  AgentConfig config;
  const config::Findings findings = read(config, kFull);
  const config::Node shown = config::show_fields(agent_fields(config));
  const config::Node& exporter = shown.find("agent")->find("exporters")->items[0];
  for (const config::Member& header : exporter.find("headers")->members) {
    EXPECT_EQ(header.value.word, "***");
  }
  EXPECT_EQ(findings.origin_of("agent.exporters[0].headers.Authorization").text(), "secrets");
}

}  // namespace
}  // namespace vesta::agent
