#include "server/http/tcp_acceptor.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "net/listen_socket.h"

namespace vesta::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTcpBacklog = 4096;
// Going through all connections takes milliseconds: not for each one that is refused.
constexpr auto kLookAgain = std::chrono::milliseconds(100);
constexpr int kIdleLookMs = 5'000;
constexpr int kPauseMs = 100;

}  // namespace

Result<std::unique_ptr<TcpAcceptor>> TcpAcceptor::listen(const ListenAddress& address,
                                                         size_t max_connections) {
  VESTA_ASSIGN(ListenSocket socket, listen_on(address, kTcpBacklog));
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) {
    return Error{ErrorCode::kIo, "the process has no file descriptors left",
                 "raise its limit of open files"};
  }
  return std::unique_ptr<TcpAcceptor>(new TcpAcceptor(std::move(socket.address), max_connections,
                                                      std::move(socket.fd), std::move(wake)));
}

TcpAcceptor::TcpAcceptor(ListenAddress address, size_t max_connections, UniqueFd listener,
                         UniqueFd wake)
    : address_(std::move(address)),
      max_connections_(max_connections),
      listener_(std::move(listener)),
      wake_(std::move(wake)) {}

TcpAcceptor::~TcpAcceptor() {
  stop();
}

void TcpAcceptor::start(std::function<void(int fd)> take) {
  take_ = std::move(take);
  thread_ = std::thread([this] { run(); });
}

void TcpAcceptor::stop() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof one);
    thread_.join();
  }
  listener_.reset();
}

TcpAcceptor::Stats TcpAcceptor::stats() const {
  return {open_, accepted_, refused_};
}

void TcpAcceptor::run() {
  pollfd events[] = {{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
  while (true) {
    const int ready = ::poll(events, 2, kIdleLookMs);
    if (ready < 0 && errno != EINTR) return;
    if (ready > 0 && events[0].revents != 0) return;
    if (ready > 0) {
      accept_all();
    } else if (ready == 0) {
      forget_closed();
    }
  }
}

void TcpAcceptor::accept_all() {
  while (true) {
    UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!connection.valid()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      // Out of files or memory, most likely. Trying again at once would only burn the CPU.
      if (errno != EAGAIN && errno != EWOULDBLOCK) {
        pollfd woken{wake_.get(), POLLIN, 0};
        ::poll(&woken, 1, kPauseMs);
      }
      return;
    }
    struct stat file {};
    if (!has_room() || ::fstat(connection.get(), &file) != 0) {
      ++refused_;
      continue;
    }
    const int on = 1;
    ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ++accepted_;
    const int fd = connection.release();
    connections_.push_back({fd, file.st_ino});
    open_ = connections_.size();
    take_(fd);
  }
}

bool TcpAcceptor::has_room() {
  if (connections_.size() < max_connections_) return true;
  if (Clock::now() - looked_at_ < kLookAgain) return false;
  forget_closed();
  return connections_.size() < max_connections_;
}

void TcpAcceptor::forget_closed() {
  std::erase_if(connections_, [](const Connection& connection) {
    struct stat file {};
    return ::fstat(connection.fd, &file) != 0 || !S_ISSOCK(file.st_mode) ||
           file.st_ino != connection.inode;
  });
  open_ = connections_.size();
  looked_at_ = Clock::now();
}

}  // namespace vesta::server
