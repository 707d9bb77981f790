// A server as the command line runs it: what it is made of, and what it says when it is up. Plain
// functions.
#pragma once

#include <string>

#include "base/log.h"
#include "server/app/server_app.h"

namespace vesta::cli {

// `log` must outlive what is made of them.
server::ServerParts server_parts(Log& log);
void announce_server(const server::ServerApp& app, const server::ServerConfig& config, Log& log);
// Returns when all is closed, within 20 s; otherwise the process ends then, and the log has what
// was cut off.
void stop_server(server::ServerApp& app, Log& log);
// "http://127.0.0.1:4040"; empty when it does not listen for HTTP.
std::string server_url(const server::ServerApp& app, const server::ServerConfig& config);

}  // namespace vesta::cli
