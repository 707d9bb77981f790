#include "agent/metadata/environment.h"

#include <algorithm>

#include "base/percent.h"
#include "base/text.h"

namespace vesta::agent {
namespace {

constexpr std::string_view kServiceNameVariable = "OTEL_SERVICE_NAME";
constexpr std::string_view kResourceVariable = "OTEL_RESOURCE_ATTRIBUTES";

}  // namespace

bool is_private_attribute(std::string_view name) {
  return name == "process.command" || name == "process.command_line" ||
         name == "process.command_args" || name.starts_with(attribute::kEnvironmentPrefix);
}

bool describes_sender(std::string_view name) {
  return name.starts_with("telemetry.") || name.starts_with("telemetry_") || name == "agent" ||
         name == "agent.name" || name == "pyroscope_spy";
}

Attributes parse_resource_attributes(std::string_view text) {
  Attributes out;
  while (!text.empty()) {
    const size_t end = text.find(',');
    const std::string_view pair = trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return {};
    const auto name = percent_decode(trim(pair.substr(0, equals)), false);
    const auto value = percent_decode(trim(pair.substr(equals + 1)), false);
    if (!name || !value || name->empty()) return {};
    if (out.size() < kMaxOwnAttributes && !is_private_attribute(*name) && !describes_sender(*name))
      set_attribute(out, *name, *value);
  }
  return out;
}

Attributes parse_environment(std::string_view bytes, std::span<const std::string> listed) {
  Attributes out;
  Attributes named;  // wins over the above
  while (true) {
    const size_t end = bytes.find('\0');
    if (end == std::string_view::npos) break;
    const std::string_view variable = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    const size_t equals = variable.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = variable.substr(0, equals);
    const std::string_view value = variable.substr(equals + 1);
    if (name == kServiceNameVariable) set_attribute(named, attribute::kServiceName, value);
    if (name == kResourceVariable) out = parse_resource_attributes(value);
    if (named.size() < kMaxOwnAttributes && std::ranges::find(listed, name) != listed.end()) {
      set_attribute(named, std::string(attribute::kEnvironmentPrefix) + std::string(name), value);
    }
  }
  for (const auto& [name, value] : named) set_attribute(out, name, value);
  return out;
}

}  // namespace vesta::agent
