// One connection of the HTTP server: reads requests, has them answered, writes answers, one at a
// time, until either side is done. Lives on the thread of its io_context; only what is said to be
// shared is touched by others. Owned by its own pending operations.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/http/http_server.h"

namespace boost::asio {
class io_context;
namespace ssl {
class context;
}
}  // namespace boost::asio

namespace vesta::server {

// Shared by all connections.
struct HttpCounters {
  std::atomic<uint64_t> connections = 0;
  std::atomic<uint64_t> refusing = 0;  // connections that are only being told to go
  std::atomic<uint64_t> accepted = 0;
  std::atomic<uint64_t> refused = 0;
  std::atomic<uint64_t> timeouts = 0;
  std::atomic<uint64_t> malformed = 0;
  std::atomic<uint64_t> handshake_failures = 0;
};

struct HttpEnvironment {
  const Dispatcher& dispatcher;
  WorkerPool& pool;
  MemoryBudget& budget;
  const HttpLimits limits;
  const std::string path_prefix;
  HttpCounters counters = {};
  std::atomic<bool> stopping = false;
  std::atomic<bool> abandoned = false;  // what is not worked on yet never will be
};

class HttpSession {
 public:
  virtual ~HttpSession() = default;
  virtual void begin() = 0;
  // The server ends: finish the request that is being answered, if there is one, and no other.
  virtual void wind_up() = 0;
  virtual void close() = 0;
};

struct HttpConnection {
  boost::asio::io_context& io;
  int socket = -1;  // connected; the session owns it
  bool is_ipv6 = false;
  std::string peer;  // address without the port
  const std::vector<std::string>& only_paths;
  std::shared_ptr<boost::asio::ssl::context> tls;  // null = plain
  bool refuse = false;                             // say 503 and go
  // On the session's thread, when another session takes the connection over.
  std::function<void(HttpSession* old_one, HttpSession* new_one)> on_replace;
  // On the session's thread, when it is closed; the session may be gone right after.
  std::function<void(HttpSession*)> on_end;
};
std::shared_ptr<HttpSession> make_http_session(HttpEnvironment& environment,
                                               HttpConnection connection);

}  // namespace vesta::server
