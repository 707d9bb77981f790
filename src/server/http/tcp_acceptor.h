// Takes TCP connections and hands them to a library that owns them from then on, so that there are
// never more than a cap: gRPC itself has none, and stops listening for good when the process runs
// out of files once. Thread-safe.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "net/listen_address.h"

namespace vesta::server {

class TcpAcceptor {
 public:
  // Listens when it returns; takes nothing yet. kIo when the address cannot be had.
  static Result<std::unique_ptr<TcpAcceptor>> listen(const ListenAddress& address,
                                                     size_t max_connections);
  ~TcpAcceptor();
  TcpAcceptor(const TcpAcceptor&) = delete;
  TcpAcceptor& operator=(const TcpAcceptor&) = delete;

  // As bound: port 0 has become a real one.
  const ListenAddress& address() const { return address_; }
  int listener() const { return listener_.get(); }

  // Calls `take` with each connection, on a thread of its own; who is called closes it some time.
  void start(std::function<void(int fd)> take);
  // No more calls when it returns; nobody can connect any more.
  void stop();

  struct Stats {
    uint64_t connections = 0;  // some seconds old
    uint64_t accepted = 0;
    uint64_t refused = 0;  // over the cap: closed at once
  };
  Stats stats() const;

 private:
  // A file that is closed leaves its number to others; the inode tells.
  struct Connection {
    int fd = -1;
    ino_t inode = 0;
  };
  TcpAcceptor(ListenAddress address, size_t max_connections, UniqueFd listener, UniqueFd wake);
  void run();
  void accept_all();
  bool has_room();
  void forget_closed();

  ListenAddress address_;
  const size_t max_connections_;
  UniqueFd listener_;
  UniqueFd wake_;
  std::function<void(int fd)> take_;
  std::thread thread_;
  std::vector<Connection> connections_;              // of the thread
  std::chrono::steady_clock::time_point looked_at_;  // of the thread: when they were gone through
  std::atomic<uint64_t> open_ = 0;
  std::atomic<uint64_t> accepted_ = 0;
  std::atomic<uint64_t> refused_ = 0;
};

}  // namespace vesta::server
