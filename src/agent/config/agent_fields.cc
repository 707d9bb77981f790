#include "agent/config/agent_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/config/exporter_fields.h"
#include "agent/config/target_fields.h"
#include "base/time.h"
#include "config/relabel_config.h"
#include "config/values.h"

namespace vesta::agent {
namespace {

using config::alias_field;
using config::Choice;
using config::Count;
using config::Duration;
using config::field;
using config::field_without_effect;
using config::Fields;
using config::ListOf;
using config::MapOf;
using config::Share;
using config::Size;
using config::Switch;
using config::Text;

// The name of an environment variable.
struct VariableName {
  static constexpr bool kIsText = true;

  std::string name() const { return "names"; }
  Status parse(std::string_view word, std::string& to) const {
    const auto fits = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    if (word.empty() || word.size() > 256 || !std::ranges::all_of(word, fits)) {
      return config::not_a(word, "the name of an environment variable");
    }
    to = word;
    return {};
  }
  std::string text(const std::string& value) const { return value; }
};

// "127.0.0.1:4041", "[::1]:4041", ":4041", or "" for nowhere. Names are looked up when it listens.
struct Listen {
  static constexpr bool kIsText = true;

  std::string name() const { return "address"; }
  Status parse(std::string_view word, std::string& to) const {
    if (word.empty()) return to.clear(), Status();
    const size_t colon = word.rfind(':');
    uint16_t port = 0;
    const bool is_bracketed = word.starts_with('[') && colon > 0 && word[colon - 1] == ']';
    const bool is_address = colon != std::string_view::npos && word.size() < 300 &&
                            Count{0, 65'535}.parse(word.substr(colon + 1), port).ok() &&
                            (is_bracketed || word.find(':') == colon) &&
                            word.find_first_of(" /@\t") == std::string_view::npos;
    if (!is_address) {
      return config::not_a(word, "an address to listen on",
                           "use HOST:PORT, or :PORT for all addresses");
    }
    to = word;
    return {};
  }
  std::string text(const std::string& value) const { return value; }
};

// "auto", or a share of one core.
struct CpuShare {
  static constexpr bool kIsText = true;
  static constexpr std::string_view kAutomatic = "auto";
  Share share = {0.0001, 64};

  std::string name() const { return "auto or share"; }
  Status parse(std::string_view word, double& to) const {
    if (word == kAutomatic) return to = kAutomaticShare, Status();
    return share.parse(word, to);
  }
  std::string text(double value) const {
    return value == kAutomaticShare ? std::string(kAutomatic) : share.text(value);
  }
};

// Documented keys whose feature is not there yet: whoever builds one moves its line up to the
// others.
Fields fields_without_effect() {
  const Choice<int> memory_modes = {{"alloc", 0}, {"inuse", 1}};
  return {
      field_without_effect<bool>("agent.profiling.memory", Switch()),
      field_without_effect<int>("agent.profiling.memory_mode", memory_modes),
      field_without_effect<bool>("agent.profiling.goroutine", Switch()),
      field_without_effect<bool>("agent.profiling.java.jfr_enabled", Switch()),
      field_without_effect<bool>("agent.profiling.java.cpu", Switch()),
      field_without_effect<bool>("agent.profiling.java.memory", Switch()),
      field_without_effect<bool>("agent.profiling.java.gc", Switch()),
      field_without_effect<bool>("agent.profiling.java.locks", Switch()),
      field_without_effect<bool>("agent.profiling.python.enabled", Switch()),
      field_without_effect<bool>("agent.profiling.python.asyncio", Switch()),
      field_without_effect<bool>("profiling.java_ebpf.enabled", Switch()),
      field_without_effect<std::string>("profiling.java_ebpf.agent_jar_path", Text()),
      field_without_effect<std::string>("profiling.java_ebpf.agent_lib_path", Text()),
      field_without_effect<int64_t>("profiling.java_ebpf.refresh_interval", Duration{kSecond}),
      field_without_effect<bool>("profiling.java_ebpf.unfold_all", Switch()),
      field_without_effect<bool>("profiling.java_ebpf.dotted_class", Switch()),
  };
}

}  // namespace

// One line per key: the whole configuration at a glance. An alias stands before the key that wins
// over it.
Fields agent_fields(AgentConfig& c) {
  ProfilingConfig& p = c.profiling;
  const MapOf<Text> labels = {{}, config::check_label_name};
  Fields fields = {
      field("agent.state", Text(), c.state),
      field("agent.metrics", Listen(), c.metrics),
      field("agent.reduce_privileges", Switch(), c.reduce_privileges),
      alias_field("profiling.enabled", "agent.profiling.enabled", Switch(), p.enabled),
      field("agent.profiling.enabled", Switch(), p.enabled),
      field("agent.profiling.sample_rate", Count{1, 10'000}, p.sample_rate),
      alias_field("profiling.cpu.enabled", "agent.profiling.cpu", Switch(), p.cpu),
      field("agent.profiling.cpu", Switch(), p.cpu),
      field("agent.profiling.off_cpu", Switch(), p.off_cpu),
      field("agent.profiling.off_cpu_min_wait", Duration{0, kHour}, p.off_cpu_min_wait_ns),
      field("agent.profiling.off_cpu_kernel_threads", Switch(), p.off_cpu_kernel_threads),
      field("agent.profiling.wall", Switch(), p.wall),
      field("agent.profiling.block", Switch(), p.block),
      field("agent.profiling.mutex", Switch(), p.mutex),
      field("agent.profiling.fold_idle", Switch(), p.fold_idle),
      field("agent.profiling.duration", Duration{kSecond, kHour}, p.duration_ns),
      field("agent.profiling.upload_interval", Duration{kSecond, 24 * kHour}, p.upload_interval_ns),
      field("agent.profiling.symbols.demangle_rust", Switch(), p.symbols.demangle_rust),
      field("agent.profiling.symbols.demangle_cpp", Switch(), p.symbols.demangle_cpp),
      field("agent.profiling.symbols.include_kernel", Switch(), p.symbols.include_kernel),
      field("agent.profiling.filters.min_samples", Count(), p.filters.min_samples),
      field("agent.profiling.filters.exclude_patterns", ListOf<Text>{{false}},
            p.filters.exclude_patterns),
      field("agent.targets.include", target_rules(), c.targets.include),
      field("agent.targets.exclude", target_rules(), c.targets.exclude),
      field("agent.service_names", service_name_rules(), c.service_names),
      field("agent.labels", labels, c.labels),
      field("agent.environment", ListOf<VariableName>(), c.environment),
      field("agent.relabel", config::RelabelRules(), c.relabel),
      field("agent.exporters", ExporterList(), c.exporters),
      field("agent.kubernetes.enabled", Switch(), c.kubernetes.enabled),
      field("agent.kubernetes.api_server", HttpUrl{{}, true}, c.kubernetes.api_server),
      field("agent.kubernetes.kubelet", HttpUrl{{}, true}, c.kubernetes.kubelet),
      field("agent.kubernetes.token_file", Text(), c.kubernetes.token_file),
      field("agent.kubernetes.ca_file", Text(), c.kubernetes.ca_file),
      field("agent.kubernetes.node", Text(), c.kubernetes.node),
      field("agent.limits.cpu", CpuShare(), c.limits.cpu_share),
      field("agent.limits.min_rate", Count{1, 10'000}, c.limits.min_rate),
      field("agent.limits.memory", Size{uint64_t{32} << 20}, c.limits.memory_bytes),
      field("profiles.jfr.enabled", Switch(), c.jfr.enabled),
      field("profiles.jfr.input_dirs", ListOf<Text>{{false}}, c.jfr.input_dirs),
      field("profiles.jfr.recursive", Switch(), c.jfr.recursive),
      field("profiles.jfr.direct_export.log_export.enabled", Switch(), c.jfr.log_export),
      field("profiles.jfr.direct_export.log_export.endpoint", HttpUrl{kOtlpLogsPath},
            c.jfr.log_exporter.endpoint),
      field("profiling.log_export.enabled", Switch(), p.log_export),
      field("profiling.log_export.endpoint", HttpUrl{kOtlpLogsPath}, p.log_endpoint),
  };
  std::ranges::move(fields_without_effect(), std::back_inserter(fields));
  return fields;
}

double cpu_budget(const AgentLimits& limits, size_t cores) {
  constexpr double kLeast = 0.01;
  constexpr double kOfEachCore = 0.0025;
  if (limits.cpu_share != kAutomaticShare) return limits.cpu_share;
  return std::max(kLeast, kOfEachCore * static_cast<double>(cores));
}

}  // namespace vesta::agent
