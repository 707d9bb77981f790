// What the environment of a process says about it to everyone: the variables that OpenTelemetry
// defines for that, and those that the configuration lists. Nothing else of it is kept. Pure
// functions of bytes that may be anything; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "agent/metadata/attributes.h"

namespace vesta::agent {

// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES as attributes, and each of `listed` as
// process.environment_variable.NAME. `bytes` as in /proc/PID/environ: "NAME=value" and a zero byte
// each; a last one without its zero byte is cut off and ignored. At most kMaxOwnAttributes.
Attributes parse_environment(std::string_view bytes, std::span<const std::string> listed);

// "name=value,name=value" with %XX, as OTEL_RESOURCE_ATTRIBUTES has it. All or nothing: empty when
// a part is not well-formed, as OpenTelemetry's specification wants it.
Attributes parse_resource_attributes(std::string_view text);

// How many attributes a process may say of itself; the rest is left out.
inline constexpr size_t kMaxOwnAttributes = 64;

// Never exported, whoever says it: command lines and environments hold secrets.
bool is_private_attribute(std::string_view name);

// What tells who made and sent the profile: that is this agent, whichever library a process also
// uses to send data of its own.
bool describes_sender(std::string_view name);

}  // namespace vesta::agent
