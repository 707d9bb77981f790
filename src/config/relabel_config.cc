#include "config/relabel_config.h"

#include <utility>

#include "config/values.h"

namespace vesta::config {
namespace {

struct Action {
  static constexpr bool kIsText = true;

  std::string name() const { return "action"; }
  Status parse(std::string_view word, RelabelAction& to) const {
    VESTA_ASSIGN(to, parse_relabel_action(word));
    return {};
  }
  std::string text(RelabelAction action) const { return std::string(relabel_action_name(action)); }
};

Fields fields_of(RelabelSpec& spec) {
  return {field("action", Action(), spec.action),
          field("source_labels", ListOf<Text>(), spec.source_labels),
          field("separator", Text(), spec.separator),
          field("regex", Text(), spec.regex),
          field("target_label", Text(), spec.target_label),
          field("replacement", Text(), spec.replacement),
          field("modulus", Count(), spec.modulus)};
}

struct Rule {
  void read(Reader& reader, const Node& node, const std::string& path, RelabelRule& to) const {
    const size_t errors = reader.error_count();
    RelabelSpec spec;
    read_fields(reader, node, path, fields_of(spec));
    if (reader.error_count() != errors) return;
    auto rule = RelabelRule::make(std::move(spec));
    if (!rule) return reader.fail(node.at, path, rule.error());
    to = std::move(rule).value();
  }
  Node show(const RelabelRule& rule) const {
    RelabelSpec spec = rule.spec();
    return show_fields(fields_of(spec));
  }
};

}  // namespace

Status check_label_name(std::string_view name) {
  if (is_label_name(name)) return {};
  return Error{ErrorCode::kUsage, "not a valid label name", {}};
}

std::vector<std::string> RelabelRules::below() const {
  return groups<RelabelSpec>(fields_of).below();
}

void RelabelRules::read(Reader& reader, const Node& node, const std::string& path,
                        std::vector<RelabelRule>& to) const {
  ListOf<Rule>().read(reader, node, path, to);
}

Node RelabelRules::show(const std::vector<RelabelRule>& rules) const {
  return ListOf<Rule>().show(rules);
}

}  // namespace vesta::config
