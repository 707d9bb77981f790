// A configuration in force, for people (YAML that can be read again, with where each value came
// from behind it) and for programs. Pure functions.
#pragma once

#include <string>

#include "config/findings.h"
#include "config/node.h"

namespace vesta::config {

// "sample_rate: 49   # vesta.yaml:4"
std::string show_yaml(const Node& root, const Origins& origins);
// {"settings": [{"key", "value", "from": {"source", "name", "line"}}]}
std::string show_json(const Node& root, const Origins& origins);

}  // namespace vesta::config
