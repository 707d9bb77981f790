// A configuration in force, for people (YAML that can be read again, with where each value came
// from behind it) and for programs. Pure functions.
#pragma once

#include <string>

#include "config/field.h"
#include "config/findings.h"
#include "config/node.h"

namespace vesta::config {

// "sample_rate: 49   # vesta.yaml:4"
std::string show_yaml(const Node& root, const Origins& origins);
// The same keys to begin a file with: every value is commented out, with what may stand there
// behind it; the groups that hold them are not, so that a line works once its "# " is gone.
std::string starter_yaml(const Fields& fields);
// {"settings": [{"key", "value", "from": {"source", "name", "line"}}]}
std::string show_json(const Node& root, const Origins& origins);

}  // namespace vesta::config
