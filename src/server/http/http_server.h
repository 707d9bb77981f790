// HTTP/1.1 on one or several addresses, with TLS or without. Threads of its own move bytes and
// never block; handlers run on the worker pool. Everything a client may do is bounded: sizes,
// times, connections, memory. Refers to what it is given, which must outlive it. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "net/listen_address.h"
#include "server/http/tls_context.h"
#include "server/memory_budget.h"
#include "server/rpc/dispatcher.h"
#include "server/rpc/worker_pool.h"

namespace vesta::server {

struct HttpLimits {
  size_t max_connections = 16'384;  // fewer when the process may not open so many files
  size_t max_header_bytes = 32 * 1024;
  size_t max_target_bytes = 16 * 1024;
  // For the whole head; for the whole body and the whole answer, beside what the bytes that were
  // moved need at the least rate. A client that reads nothing for write_timeout is gone.
  std::chrono::milliseconds header_timeout{10'000};
  std::chrono::milliseconds body_timeout{30'000};
  std::chrono::milliseconds write_timeout{30'000};
  uint64_t min_bytes_per_second = 16 * 1024;
  std::chrono::milliseconds idle_timeout{120'000};  // between requests
};

struct HttpListener {
  ListenAddress address;
  std::vector<std::string> only_paths;  // what it serves; empty = everything
};

struct HttpServerOptions {
  std::vector<HttpListener> listeners;
  HttpLimits limits;
  TlsFiles tls;
  // What a proxy leaves in front of our paths: "/vesta". Paths without it work, too.
  std::string path_prefix;
  size_t io_threads = 2;
};

struct HttpServerStats {
  uint64_t connections = 0;  // now
  uint64_t accepted = 0;
  uint64_t refused = 0;  // over the cap
  uint64_t timeouts = 0;
  uint64_t malformed = 0;  // not HTTP, or cut off
  uint64_t handshake_failures = 0;
  uint64_t tls_reloads = 0;
  uint64_t tls_reload_failures = 0;
};

class HttpServer {
 public:
  // Listens when it returns. kIo when an address cannot be had, kInvalidInput for a bad
  // certificate.
  static Result<std::unique_ptr<HttpServer>> start(const HttpServerOptions& options,
                                                   const Dispatcher& dispatcher, WorkerPool& pool,
                                                   MemoryBudget& budget, Log& log);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // As bound, in the order of the listeners: port 0 has become a real one.
  const std::vector<ListenAddress>& addresses() const;
  HttpServerStats stats() const;

  // Accepts nothing more, lets requests in flight end for at most `grace`, then closes what is
  // left. REQUIRES: the pool still runs, or nothing is in flight.
  void stop(std::chrono::milliseconds grace);

 private:
  struct Parts;
  explicit HttpServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace vesta::server
