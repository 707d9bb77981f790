// Relabelling rules as they are written in YAML, with the keys that Prometheus has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/field.h"
#include "config/relabel.h"

namespace vesta::config {

// kUsage unless it can be the name of a label; for the keys of MapOf.
Status check_label_name(std::string_view name);

// A type for field(): the value of `relabel_configs`.
struct RelabelRules {
  std::string name() const { return "list"; }
  std::vector<std::string> below() const;
  void read(Reader& reader, const Node& node, const std::string& path,
            std::vector<RelabelRule>& to) const;
  Node show(const std::vector<RelabelRule>& rules) const;
};

}  // namespace vesta::config
