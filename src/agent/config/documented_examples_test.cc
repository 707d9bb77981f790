// The examples of the configuration that users bring along, as they stand in its documentation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/config/agent_fields.h"
#include "config/yaml.h"

namespace vesta::agent {
namespace {

using ::testing::ElementsAre;

struct Loaded {
  AgentConfig config;
  config::Findings findings;
};

// What `text` makes of an agent; it must load.
Loaded load(std::string_view text) {
  Loaded out;
  const auto document = config::parse_yaml(text, "vesta.yaml");
  EXPECT_TRUE(document.ok()) << document.error().message;
  if (!document.ok()) return out;
  config::read_document(*document, agent_fields(out.config), out.findings);
  finish_agent_config(out.config, out.findings);
  EXPECT_TRUE(out.findings.status().ok()) << out.findings.status().error().message;
  return out;
}

std::vector<std::string> warnings(const Loaded& loaded) {
  std::vector<std::string> out;
  for (const config::Finding& finding : loaded.findings.warnings) {
    out.push_back(finding.error.message);
  }
  return out;
}

constexpr std::string_view kEnableProfiling = R"(agent:
  profiling:
    enabled: true
)";

constexpr std::string_view kFullConfiguration = R"(agent:
  profiling:
    enabled: true
    
    # Sampling rate in Hz
    sample_rate: 99  # 99 Hz avoids aliasing with timers
    
    # Profile types
    cpu: true          # On-CPU time
    off_cpu: true      # Off-CPU waiting time
    memory: true       # Heap allocations
    mutex: true        # Lock contention (Go, Java)
    block: true        # Blocking operations (Go)
    goroutine: true    # Goroutine stacks (Go only)
    
    # Duration of each profile sample
    duration: 10s
    
    # How often to upload profiles
    upload_interval: 60s
    
    # Symbol resolution
    symbols:
      demangle_rust: true
      demangle_cpp: true
      include_kernel: false  # Include kernel symbols
      
    # Filtering
    filters:
      # Minimum samples to include
      min_samples: 1
      
      # Exclude system functions
      exclude_patterns:
        - "runtime.*"  # Go runtime
        - "java.lang.*"  # Java internals
)";

constexpr std::string_view kMemory = R"(agent:
  profiling:
    memory: true
    
    # Track allocations or in-use memory
    memory_mode: alloc  # alloc or inuse
)";

constexpr std::string_view kGo = R"(agent:
  profiling:
    # Go-specific profile types
    goroutine: true    # Goroutine stacks
    mutex: true        # Mutex contention
    block: true        # Blocking operations
)";

constexpr std::string_view kJava = R"(agent:
  profiling:
    java:
      jfr_enabled: true
      # JFR event types
      cpu: true
      memory: true
      gc: true
      locks: true
)";

constexpr std::string_view kPython = R"(agent:
  profiling:
    python:
      enabled: true
      # AsyncIO support
      asyncio: true
)";

constexpr std::string_view kLowerOverhead = R"(agent:
  profiling:
    # Lower sample rate
    sample_rate: 49  # Instead of 99
    
    # Increase upload interval
    upload_interval: 120s  # Instead of 60s
    
    # Disable unused profile types
    mutex: false
    block: false
    goroutine: false
)";

constexpr std::string_view kCpuAndOffCpu = R"(agent:
  profiling:
    enabled: true
    cpu: true
    off_cpu: true
)";

// These two are documented without indentation; it is given back here.
constexpr std::string_view kJfr = R"(profiles:
  jfr:
    enabled: true
    input_dirs:
      - /var/log/jfr
    # Export as OTLP Logs for unified pipeline
    direct_export:
      log_export:
        enabled: true
        endpoint: "http://otel-collector:4318/v1/logs"
)";

constexpr std::string_view kJavaEbpf = R"(profiling:
  enabled: true
  cpu:
    enabled: true
  # Enable Java symbol resolution for eBPF profiles
  java_ebpf:
    enabled: true
    agent_jar_path: "/opt/perf-map-agent/attach-main.jar"
    agent_lib_path: "/opt/perf-map-agent/libperfmap.so"
    refresh_interval: 60s
    unfold_all: true
    dotted_class: true
  # Export as OTLP Logs (same format as JFR)
  log_export:
    enabled: true
    endpoint: "http://otel-collector:4318/v1/logs"
)";

TEST(DocumentedExamples, TheShortestOneTurnsProfilingOn) {
  const Loaded loaded = load(kEnableProfiling);
  EXPECT_TRUE(loaded.config.profiling.enabled);
  EXPECT_THAT(warnings(loaded), ElementsAre());
}

TEST(DocumentedExamples, TheFullOneSetsWhatThereIsAndNamesTheRest) {
  const Loaded loaded = load(kFullConfiguration);
  const ProfilingConfig& profiling = loaded.config.profiling;
  EXPECT_EQ(profiling.sample_rate, 99U);
  EXPECT_TRUE(profiling.cpu);
  EXPECT_TRUE(profiling.off_cpu);
  EXPECT_TRUE(profiling.block);
  EXPECT_TRUE(profiling.mutex);
  EXPECT_EQ(profiling.duration_ns, 10'000'000'000);
  EXPECT_EQ(profiling.upload_interval_ns, 60'000'000'000);
  EXPECT_TRUE(profiling.symbols.demangle_rust);
  EXPECT_FALSE(profiling.symbols.include_kernel);
  EXPECT_EQ(profiling.filters.min_samples, 1U);
  EXPECT_THAT(profiling.filters.exclude_patterns, ElementsAre("runtime.*", "java.lang.*"));
  EXPECT_THAT(warnings(loaded),
              ElementsAre("vesta.yaml:11:13: agent.profiling.memory: has no effect yet",
                          "vesta.yaml:14:16: agent.profiling.goroutine: has no effect yet"));
}

TEST(DocumentedExamples, ThoseOfRuntimesLoad) {
  EXPECT_EQ(warnings(load(kMemory)).size(), 2U);
  EXPECT_EQ(warnings(load(kGo)).size(), 1U);
  EXPECT_EQ(warnings(load(kJava)).size(), 5U);
  EXPECT_EQ(warnings(load(kPython)).size(), 2U);
  EXPECT_EQ(warnings(load(kCpuAndOffCpu)).size(), 0U);
}

TEST(DocumentedExamples, LowerOverheadIsARateAndAnInterval) {
  const Loaded loaded = load(kLowerOverhead);
  EXPECT_EQ(loaded.config.profiling.sample_rate, 49U);
  EXPECT_EQ(loaded.config.profiling.upload_interval_ns, 120'000'000'000);
}

TEST(DocumentedExamples, JfrFilesGoToTheirOwnLogExporter) {
  const Loaded loaded = load(kJfr);
  const JfrConfig& jfr = loaded.config.jfr;
  EXPECT_TRUE(jfr.enabled);
  EXPECT_THAT(jfr.input_dirs, ElementsAre("/var/log/jfr"));
  EXPECT_TRUE(jfr.log_export);
  EXPECT_EQ(jfr.log_exporter.kind, ExporterKind::kOtlpLogs);
  EXPECT_EQ(jfr.log_exporter.endpoint, "http://otel-collector:4318/v1/logs");
  EXPECT_EQ(jfr.log_exporter.name, "jfr_log_export");
  EXPECT_TRUE(loaded.config.exporters.empty());
  EXPECT_THAT(warnings(loaded), ElementsAre());
}

TEST(DocumentedExamples, LogExportIsAnExporterOfAllProfiles) {
  const Loaded loaded = load(kJavaEbpf);
  ASSERT_EQ(loaded.config.exporters.size(), 1U);
  EXPECT_EQ(loaded.config.exporters[0].kind, ExporterKind::kOtlpLogs);
  EXPECT_EQ(loaded.config.exporters[0].endpoint, "http://otel-collector:4318/v1/logs");
  EXPECT_EQ(loaded.config.exporters[0].made_by, "profiling.log_export");
  EXPECT_EQ(warnings(loaded).size(), 6U);
}

}  // namespace
}  // namespace vesta::agent
