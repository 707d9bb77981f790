// gRPC for every RpcMethod, by its path: bytes in, bytes out. Messages are unpacked here and not by
// the library, which would unpack a bomb before it looks at the size. Handlers run on the worker
// pool. Refers to what it is given, which must outlive it. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/log.h"
#include "base/result.h"
#include "net/listen_address.h"
#include "server/http/tcp_acceptor.h"
#include "server/http/tls_context.h"
#include "server/memory_budget.h"
#include "server/rpc/dispatcher.h"
#include "server/rpc/worker_pool.h"

namespace vesta::server {

struct GrpcServerOptions {
  ListenAddress address;
  TlsFiles tls;
  uint64_t max_message_bytes = uint64_t{64} << 20;  // as it comes
  size_t max_connections = 16'384;  // fewer when the process may not open so many files
};

class GrpcServer {
 public:
  // Listens when it returns. kIo when the address cannot be had.
  static Result<std::unique_ptr<GrpcServer>> start(const GrpcServerOptions& options,
                                                   const Dispatcher& dispatcher, WorkerPool& pool,
                                                   MemoryBudget& budget, Log& log);
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  const ListenAddress& address() const;
  TcpAcceptor::Stats connections() const;
  // Takes no more calls, lets those in flight end for at most `grace`, then cancels them, and waits
  // for their handlers. REQUIRES: the pool still runs.
  void stop(std::chrono::milliseconds grace);

 private:
  struct Parts;
  explicit GrpcServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace vesta::server
