// Where profiles go, as it is written in YAML. Types for config::field().
#pragma once

#include <string>
#include <string_view>

#include "agent/config/agent_config.h"
#include "base/result.h"
#include "config/values.h"

namespace vesta::agent {

inline constexpr std::string_view kOtlpProfilesPath = "/v1development/profiles";
inline constexpr std::string_view kOtlpLogsPath = "/v1/logs";

// A URL of http or https. One without a path gets `path`.
struct HttpUrl {
  static constexpr bool kIsText = true;
  std::string_view path = {};
  bool may_be_empty = false;

  std::string name() const { return "URL"; }
  Status parse(std::string_view word, std::string& to) const;
  std::string text(const std::string& value) const { return value; }
};

std::string exporter_kind_name(ExporterKind kind);  // "otlp_http"

// kUsage for a name that is not fit for a folder.
Status check_exporter_name(std::string_view name);

// The value of agent.exporters; those that another key asked for are not shown.
struct ExporterList {
  std::string name() const { return "list"; }
  std::vector<std::string> below() const;
  void read(config::Reader& reader, const config::Node& node, const std::string& path,
            std::vector<ExporterConfig>& to) const;
  config::Node show(const std::vector<ExporterConfig>& exporters) const;
};

// One header in a line, "Name: value"; empty lines and those that begin with # do not count. kUsage
// with the line, never with the value.
Result<std::vector<std::pair<std::string, std::string>>> parse_headers(std::string_view text);

}  // namespace vesta::agent
