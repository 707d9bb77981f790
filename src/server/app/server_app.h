// A whole server: the store, all API families, the transports, and what has to be done now and
// then. Made, started and stopped by one owner thread; what it starts runs on threads of its own.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "ingest/ingest.h"
#include "net/listen_address.h"
#include "server/api.h"
#include "server/config/server_config.h"
#include "server/native/local_agent.h"
#include "store/engine.h"

namespace vesta::server {

// What a server is given, because it lies outside or is chosen by who starts it.
struct ServerParts {
  std::function<Result<std::unique_ptr<Engine>>(const ServerConfig&)> open_engine;
  // Further API families; null for none.
  std::function<void(Routes&, Engine&, Ingest&)> add_routes;
  // A gzip pprof profile of this process; null when it cannot be had.
  std::function<Result<std::string>(std::chrono::seconds)> cpu_profile;
  // The agent in this process; empty when there is none.
  std::function<std::optional<LocalAgent>()> local_agent;
  std::string version = "unknown";
  std::string command_line;  // words, each ended by a zero byte
};

class ServerApp {
 public:
  // `log` must outlive it.
  ServerApp(ServerConfig config, ServerParts parts, Log& log);
  ~ServerApp();
  ServerApp(const ServerApp&) = delete;
  ServerApp& operator=(const ServerApp&) = delete;

  // Answers requests when it returns. kUsage when the configuration does not hold together, or
  // would let strangers in.
  Status start();
  // Lets requests in flight end for at most `grace`, then makes everything durable and closes.
  // Handlers and the store are not interrupted, so that it may take longer.
  void stop(std::chrono::milliseconds grace);
  // What stop() waits for, in words. On any thread while stop() runs.
  std::string unfinished() const;

  // Where it listens; none when that is off. REQUIRES: start() was ok.
  std::optional<ListenAddress> http_address() const;
  std::optional<ListenAddress> grpc_address() const;
  std::optional<ListenAddress> otlp_http_address() const;
  bool tokens_required() const;

 private:
  struct Running;
  std::unique_ptr<Running> running_;
};

}  // namespace vesta::server
