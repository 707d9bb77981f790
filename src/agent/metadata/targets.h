// Which processes are profiled, and what services are called, by configured rules over attributes.
// Immutable once made; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/config/agent_config.h"
#include "agent/metadata/attributes.h"

namespace vesta::agent {

// All that the rule says holds; a rule that says nothing holds for everyone. Texts may have * and
// ?; an executable without a slash is compared with the last part of the path, a container with its
// name, its id, or, from six characters on, the beginning of its id.
bool matches_rule(const TargetRule& rule, const Attributes& attributes);

// Any of `include` (all, when there is none) and none of `exclude`.
bool is_target(const TargetConfig& config, const Attributes& attributes);

// The name that the first matching rule gives; nothing when none matches.
std::optional<std::string> configured_service_name(const std::vector<ServiceNameRule>& rules,
                                                   const Attributes& attributes);

}  // namespace vesta::agent
