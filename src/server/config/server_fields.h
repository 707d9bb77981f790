// The keys of a server's configuration: one line each in server_fields.cc. Plain functions; those
// that read addresses ask the resolver for host names.
#pragma once

#include "base/result.h"
#include "config/field.h"
#include "server/config/server_config.h"

namespace vesta::server {

// All keys, bound to `config`, which must outlive them.
config::Fields server_fields(ServerConfig& config);

// What no single key can see: files that belong together, an address at least.
Status check_config(const ServerConfig& config);

}  // namespace vesta::server
