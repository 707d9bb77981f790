// The configuration file of a server: YAML, one key per setting, some with lists. Every error names
// line and column; a key that there is not is an error that names the nearest. Plain functions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "server/config/server_config.h"

namespace vesta::server {

// Applies what the text says over what `config` has. `name` is what the text is called in errors.
// kUsage on anything wrong.
Status apply_config_text(ServerConfig& config, std::string_view text, const std::string& name);
Status apply_config_file(ServerConfig& config, const std::string& path);

}  // namespace vesta::server
