// Which processes are meant, as it is written in YAML. Types for config::field().
#pragma once

#include "agent/config/agent_config.h"
#include "config/values.h"

namespace vesta::agent {

config::GroupList<TargetRule> target_rules();
config::GroupList<ServiceNameRule> service_name_rules();

}  // namespace vesta::agent
