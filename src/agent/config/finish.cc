#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "agent/config/agent_fields.h"
#include "agent/config/exporter_fields.h"
#include "base/file.h"

namespace vesta::agent {
namespace {

constexpr uint64_t kMaxHeaderFileBytes = 64 * 1024;
constexpr std::string_view kLogExport = "profiling.log_export";
constexpr std::string_view kJfrLogExport = "profiles.jfr.direct_export.log_export";

// At the place where the key was given.
void fail(config::Findings& findings, const std::string& key, const Error& error) {
  const config::Origin origin = findings.origin_of(key);
  findings.add_error(origin.at, located(origin.name, origin.at, with_context(error, key)));
}

class Names {
 public:
  bool take(const std::string& name) { return taken_.insert(name).second; }

  // "otlp", "otlp-2" …: the first that is free.
  std::string make(std::string_view base) {
    std::string name(base);
    for (size_t i = 2; !take(name); ++i) name = fmt::format("{}-{}", base, i);
    return name;
  }

 private:
  std::set<std::string> taken_;
};

void add_file_headers(ExporterConfig& exporter, const std::string& key, const ReadFile& read,
                      config::Findings& findings) {
  if (exporter.headers_file.empty()) return;
  const std::string file_key = key + ".headers_file";
  const auto text = read(exporter.headers_file);
  if (!text) return fail(findings, file_key, text.error());
  auto headers = parse_headers(*text);
  if (!headers) {
    return fail(findings, file_key, with_context(headers.error(), exporter.headers_file));
  }
  for (auto& header : *headers) {
    // What stands in the configuration itself wins.
    const bool is_known = std::ranges::any_of(exporter.headers, [&](const auto& known) {
      return std::ranges::equal(known.first, header.first, {}, ::tolower, ::tolower);
    });
    if (is_known) continue;
    findings.origins[fmt::format("{}.headers.{}", key, header.first)] = {
        config::Source::kFile, exporter.headers_file, {}, {}};
    exporter.headers.push_back(std::move(header));
  }
}

ExporterConfig log_exporter(std::string endpoint, std::string name, std::string_view made_by) {
  ExporterConfig exporter;
  exporter.kind = ExporterKind::kOtlpLogs;
  exporter.endpoint = std::move(endpoint);
  exporter.name = std::move(name);
  exporter.made_by = made_by;
  return exporter;
}

}  // namespace

Result<std::string> read_headers_file(const std::string& path) {
  VESTA_ASSIGN(const InputFile file, InputFile::open(path, kMaxHeaderFileBytes));
  return std::string(file.bytes());
}

void finish_agent_config(AgentConfig& config, config::Findings& findings, const ReadFile& read) {
  // A lower rate than the usual least is a choice, not a mistake.
  if (config.limits.min_rate == AgentLimits().min_rate)
    config.limits.min_rate = std::min(config.limits.min_rate, config.profiling.sample_rate);
  if (config.limits.min_rate > config.profiling.sample_rate) {
    fail(findings, "agent.limits.min_rate",
         {ErrorCode::kUsage,
          fmt::format("{} is above agent.profiling.sample_rate, which is {}",
                      config.limits.min_rate, config.profiling.sample_rate),
          "lower it, or raise the rate"});
  }
  Names names;
  for (size_t i = 0; i < config.exporters.size(); ++i) {
    const std::string& name = config.exporters[i].name;
    if (!name.empty() && !names.take(name)) {
      fail(findings, fmt::format("agent.exporters[{}].name", i),
           {ErrorCode::kUsage, fmt::format("two exporters have the name '{}'", name), {}});
    }
  }
  for (size_t i = 0; i < config.exporters.size(); ++i) {
    ExporterConfig& exporter = config.exporters[i];
    if (exporter.name.empty()) exporter.name = names.make(exporter_kind_name(exporter.kind));
    add_file_headers(exporter, fmt::format("agent.exporters[{}]", i), read, findings);
  }
  if (config.profiling.log_export) {
    config.exporters.push_back(
        log_exporter(config.profiling.log_endpoint, names.make("log_export"), kLogExport));
  }
  if (config.jfr.log_export) {
    config.jfr.log_exporter =
        log_exporter(config.jfr.log_exporter.endpoint, names.make("jfr_log_export"), kJfrLogExport);
  }
}

}  // namespace vesta::agent
