// The settings of a server that are one word each, by their key in the configuration file. Files,
// the environment and flags all set them through here, so that they mean the same everywhere. Pure
// functions, but for the environment and host names.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/config/server_config.h"

namespace vesta::server {

// "server.http", "limits.max_samples" …, in the order in which they are documented.
std::vector<std::string> setting_keys();
// Keys under limits., without it.
std::vector<std::string> limit_keys();

// kUsage when there is no such key, with the nearest, or the word is not one that it takes.
Status apply_setting(ServerConfig& config, std::string_view key, std::string_view word);
Status apply_limit(TenantLimits& limits, std::string_view name, std::string_view word);

// "server.http" -> "VESTA_SERVER_HTTP".
std::string environment_name(std::string_view key);
// Applies all that are set. `get` is how to look into the environment.
using GetEnvironment = std::function<const char*(const char*)>;
Status apply_environment(ServerConfig& config, const GetEnvironment& get);

// "30d", "12h"; 0 = for ever.
Result<int64_t> parse_retention(std::string_view word);

// What no single setting can see: files that belong together, tokens for who listens wide.
Status check_config(const ServerConfig& config);

// "did you mean …?" or all of the choices, for a key that there is not.
std::string unknown_key_hint(std::string_view key, const std::vector<std::string>& choices);

}  // namespace vesta::server
