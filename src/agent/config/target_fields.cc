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
  return {field("pid", Count{1, kMaxPid}, rule.pid),
          field("executable", Text{false}, rule.executable),
          field("comm", Text{false}, rule.comm),
          field("service", Text{false}, rule.service),
          field("container", Text{false}, rule.container),
          field("namespace", Text{false}, rule.k8s_namespace),
          field("pod", Text{false}, rule.pod),
          field("pod_labels", config::MapOf<Text>(), rule.pod_labels)};
}

void check_rule(Reader& reader, const Node& node, const std::string& path, TargetRule& /*rule*/) {
  if (node.members.empty()) {
    reader.fail(node.at, path, "a rule without conditions would match every process",
                "say what a process must be like, such as executable: nginx");
  }
}

constexpr config::Group<TargetRule> kRule = {fields_of, check_rule};

Fields fields_of(ServiceNameRule& rule) {
  return {field("name", Text{false}, rule.name), field("match", kRule, rule.match)};
}

void check_name(Reader& reader, const Node& node, const std::string& path,
                ServiceNameRule& /*rule*/) {
  for (const char* key : {"name", "match"}) {
    if (node.find(key) == nullptr) reader.fail(node.at, path, fmt::format("there is no {}", key));
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
