#include "agent/config/target_fields.h"

namespace vesta::agent {
namespace {

using config::Count;
using config::field;
using config::Fields;
using config::Node;
using config::Reader;
using config::Text;

// What the kernel allows at most.
constexpr uint64_t kMaxPid = uint64_t{1} << 22;

Fields fields_of(TargetRule& rule) {
  return {shown_if_set(field("pid", Count{1, kMaxPid}, rule.pid)),
          shown_if_set(field("executable", Text{false}, rule.executable)),
          shown_if_set(field("comm", Text{false}, rule.comm)),
          shown_if_set(field("service", Text{false}, rule.service)),
          shown_if_set(field("container", Text{false}, rule.container)),
          shown_if_set(field("namespace", Text{false}, rule.k8s_namespace)),
          shown_if_set(field("pod", Text{false}, rule.pod)),
          field("pod_labels", config::MapOf<Text>(), rule.pod_labels)};
}

void check_rule(Reader& reader, const Node& node, const std::string& path, TargetRule& rule) {
  // The only condition that can be given and still be none.
  const bool has_labels = !rule.pod_labels.empty();
  const size_t conditions = node.members.size() - (node.find("pod_labels") != nullptr ? 1 : 0);
  if (conditions == 0 && !has_labels) {
    reader.fail(node.at, path, "a rule without conditions would match every process",
                "add a condition, such as executable: nginx");
  }
}

constexpr config::Group<TargetRule> kRule = {fields_of, check_rule};

Fields fields_of(ServiceNameRule& rule) {
  return {field("name", Text{false}, rule.name), field("match", kRule, rule.match)};
}

void check_name(Reader& reader, const Node& node, const std::string& path,
                ServiceNameRule& /*rule*/) {
  for (const char* key : {"name", "match"}) {
    if (node.find(key) == nullptr) reader.fail(node.at, path, fmt::format("{} is missing", key));
  }
}

}  // namespace

config::GroupList<TargetRule> target_rules() {
  return {kRule};
}

config::GroupList<ServiceNameRule> service_name_rules() {
  return config::groups<ServiceNameRule>(fields_of, check_name);
}

}  // namespace vesta::agent
