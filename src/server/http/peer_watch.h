// Whether the client of a request is still connected, for the worker that serves it. The session's
// thread owns the socket and says when it is done with it. Thread-safe.
#pragma once

#include <poll.h>

#include "base/mutex.h"

namespace vesta::server {

class PeerWatch {
 public:
  // REQUIRES: the socket stays open until forget().
  explicit PeerWatch(int socket) : socket_(socket) {}

  // True once the client has closed its side: browsers do so when a request is cancelled, and no
  // client that we know of half-closes while it waits for an answer.
  bool is_gone() {
    const MutexLock lock(mutex_);
    if (socket_ < 0) return true;
    pollfd asked{socket_, POLLRDHUP, 0};
    return ::poll(&asked, 1, 0) > 0 && (asked.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
  }
  void forget() {
    const MutexLock lock(mutex_);
    socket_ = -1;
  }

 private:
  Mutex mutex_;
  int socket_ GUARDED_BY(mutex_);
};

}  // namespace vesta::server
