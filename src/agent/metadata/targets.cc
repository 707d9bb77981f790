#include "agent/metadata/targets.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace vesta::agent {
namespace {

constexpr size_t kMinIdBeginning = 6;

bool matches_text(std::string_view pattern, std::string_view text) {
  return pattern.empty() || (!text.empty() && matches_glob(pattern, text));
}

bool matches_executable(std::string_view pattern, const Attributes& attributes) {
  if (pattern.empty()) return true;
  const std::string_view path = find_attribute(attributes, attribute::kExecutablePath);
  return matches_glob(pattern,
                      pattern.find('/') == std::string_view::npos ? base_name(path) : path);
}

bool matches_container(std::string_view pattern, const Attributes& attributes) {
  if (pattern.empty()) return true;
  const std::string_view id = find_attribute(attributes, attribute::kContainerId);
  const std::string_view name = find_attribute(attributes, attribute::kContainerName);
  const std::string_view in_pod = find_attribute(attributes, attribute::kK8sContainerName);
  if (pattern.size() >= kMinIdBeginning && id.starts_with(pattern)) return true;
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{id, name, in_pod},
      [&](std::string_view text) { return !text.empty() && matches_glob(pattern, text); });
}

bool matches_pid(uint32_t pid, const Attributes& attributes) {
  const std::string_view text = find_attribute(attributes, attribute::kProcessPid);
  uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return pid == 0 || pid == value;
}

}  // namespace

bool matches_rule(const TargetRule& rule, const Attributes& attributes) {
  const auto matches = [&](const std::string& pattern, std::string_view name) {
    return matches_text(pattern, find_attribute(attributes, name));
  };
  if (!matches_pid(rule.pid, attributes) || !matches_executable(rule.executable, attributes) ||
      !matches(rule.comm, attribute::kProcessName) ||
      !matches(rule.service, attribute::kServiceName) ||
      !matches_container(rule.container, attributes) ||
      !matches(rule.k8s_namespace, attribute::kNamespaceName) ||
      !matches(rule.pod, attribute::kPodName)) {
    return false;
  }
  return std::ranges::all_of(rule.pod_labels, [&](const auto& label) {
    const std::string_view value =
        find_attribute(attributes, std::string(attribute::kPodLabelPrefix) + label.first);
    return !value.empty() && matches_text(label.second, value);
  });
}

bool is_target(const TargetConfig& config, const Attributes& attributes) {
  const auto any = [&](const std::vector<TargetRule>& rules) {
    return std::ranges::any_of(
        rules, [&](const TargetRule& rule) { return matches_rule(rule, attributes); });
  };
  return (config.include.empty() || any(config.include)) && !any(config.exclude);
}

std::optional<std::string> configured_service_name(const std::vector<ServiceNameRule>& rules,
                                                   const Attributes& attributes) {
  for (const ServiceNameRule& rule : rules) {
    if (!rule.name.empty() && matches_rule(rule.match, attributes)) return rule.name;
  }
  return std::nullopt;
}

}  // namespace vesta::agent
