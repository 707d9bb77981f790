// Relabelling rules as they are written in YAML, with the keys that Prometheus has.
#pragma once

#include <string>
#include <vector>

#include "config/field.h"
#include "config/relabel.h"

namespace vesta::config {

// A type for field(): the value of `relabel_configs`.
struct RelabelRules {
  std::string name() const { return "list"; }
  std::vector<std::string> below() const;
  void read(Reader& reader, const Node& node, const std::string& path,
            std::vector<RelabelRule>& to) const;
  Node show(const std::vector<RelabelRule>& rules) const;
};

}  // namespace vesta::config
