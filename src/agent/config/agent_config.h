// All that can be set about an agent. Plain data; the defaults are what an empty configuration
// means.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "config/relabel.h"

namespace vesta::agent {

struct SymbolConfig {
  bool demangle_rust = true;
  bool demangle_cpp = true;
  bool include_kernel = true;
  friend bool operator==(const SymbolConfig&, const SymbolConfig&) = default;
};

struct FilterConfig {
  uint64_t min_samples = 1;                   // of a stack in a window; fewer become one frame
  std::vector<std::string> exclude_patterns;  // function names; folded into their callers
};

struct ProfilingConfig {
  bool enabled = true;
  uint32_t sample_rate = 99;
  bool cpu = true;
  bool off_cpu = false;
  int64_t off_cpu_min_wait_ns = 0;  // shorter waits are left out
  bool off_cpu_kernel_threads = false;
  bool wall = false;
  bool block = false;
  bool mutex = false;
  bool fold_idle = true;  // waits of threads that have nothing to do are under one frame
  int64_t duration_ns = 10 * kSecond;
  int64_t upload_interval_ns = 10 * kSecond;
  SymbolConfig symbols;
  FilterConfig filters;
  // profiling.log_export: asks for one of AgentConfig::exporters.
  bool log_export = false;
  std::string log_endpoint = "http://localhost:4318/v1/logs";
};

// What a process must be like. Empty fields say nothing; texts may have * and ?. All that are set
// must hold.
struct TargetRule {
  uint32_t pid = 0;
  std::string executable;  // a path, or the last part of one
  std::string comm;
  std::string service;
  std::string container;  // id or its beginning, or name
  std::string k8s_namespace;
  std::string pod;
  std::map<std::string, std::string> pod_labels;
};

// Those that match any of `include` (all, when there is none) and none of `exclude`.
struct TargetConfig {
  std::vector<TargetRule> include;
  std::vector<TargetRule> exclude;
};

struct ServiceNameRule {
  TargetRule match;
  std::string name;
};

struct ExporterTls {
  std::string ca_file;
  std::string cert_file;  // with key_file: this side's own
  std::string key_file;
  bool skip_verify = false;
  friend bool operator==(const ExporterTls&, const ExporterTls&) = default;
};

enum class ExporterKind : uint8_t {
  kOtlpGrpc,         // "otlp"
  kOtlpHttp,         // "otlp_http"
  kPyroscopePush,    // "pyroscope"
  kPyroscopeIngest,  // "pyroscope_ingest"
  kFiles,            // "files"
  kOtlpLogs,         // "otlp_logs"
};

struct ExporterConfig {
  std::string name;  // of its queue and in metrics; unique
  ExporterKind kind = ExporterKind::kOtlpGrpc;
  // URL. For gRPC host:port too, which is without TLS unless `tls` says something; https:// is
  // with it.
  std::string endpoint;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string headers_file;  // more of them, one "Name: value" in a line; read into `headers`
  ExporterTls tls;
  bool gzip = true;
  int64_t timeout_ns = 30 * kSecond;
  uint64_t queue_bytes = uint64_t{256} << 20;
  int64_t queue_age_ns = kDay;     // older ones expire
  int64_t upload_interval_ns = 0;  // 0 = as profiling says
  // kFiles
  std::string directory;
  uint64_t max_files = 1000;
  uint64_t max_bytes = uint64_t{1} << 30;
  std::string made_by;  // the key that asked for it, where that is not agent.exporters
  friend bool operator==(const ExporterConfig&, const ExporterConfig&) = default;
};

struct JfrConfig {
  bool enabled = false;
  std::vector<std::string> input_dirs = {"/var/log/jfr"};
  bool recursive = true;
  // direct_export.log_export: as an exporter of kind kOtlpLogs that only these profiles go to.
  bool log_export = false;
  ExporterConfig log_exporter = [] {
    ExporterConfig exporter;
    exporter.kind = ExporterKind::kOtlpLogs;
    exporter.endpoint = "http://localhost:4318/v1/logs";
    return exporter;
  }();
  friend bool operator==(const JfrConfig&, const JfrConfig&) = default;
};

struct KubernetesConfig {
  bool enabled = true;     // where the pod's credentials are there
  std::string api_server;  // URL; empty = from the environment of a pod
  std::string kubelet;     // URL; empty = not asked
  std::string token_file = "/var/run/secrets/kubernetes.io/serviceaccount/token";
  std::string ca_file = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";
  std::string node;  // this one's name; empty = NODE_NAME, K8S_NODE_NAME, else the host's
  friend bool operator==(const KubernetesConfig&, const KubernetesConfig&) = default;
};

inline constexpr double kAutomaticShare = 0;

struct AgentLimits {
  // Of one core; kAutomaticShare: by the number of cores, see cpu_budget().
  double cpu_share = kAutomaticShare;
  uint32_t min_rate = 19;  // the rate is not lowered below that
  uint64_t memory_bytes = uint64_t{256} << 20;
};

// What the agent may use, in cores: as configured, else one hundredth of a core or a quarter of a
// percent of all, whichever is more.
double cpu_budget(const AgentLimits& limits, size_t cores);

struct AgentConfig {
  std::string state;  // folder of queues and of what must survive a restart; empty = by who runs it
  std::string metrics = "127.0.0.1:4041";  // /metrics and /healthz; empty = off
  bool reduce_privileges = true;
  ProfilingConfig profiling;
  JfrConfig jfr;
  TargetConfig targets;
  std::vector<ServiceNameRule> service_names;
  std::map<std::string, std::string> labels;  // added to every profile
  std::vector<std::string> environment;       // variables of processes that may be exported
  std::vector<RelabelRule> relabel;           // of the resource's attributes
  std::vector<ExporterConfig> exporters;
  KubernetesConfig kubernetes;
  AgentLimits limits;
  std::string file;  // the settings came from; empty = no file
};

}  // namespace vesta::agent
