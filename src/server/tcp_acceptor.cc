#include "server/tcp_acceptor.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace vesta::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBacklog = 4096;
// Going through all connections takes milliseconds: not for each one that is refused.
constexpr auto kLookAgain = std::chrono::milliseconds(100);
constexpr int kIdleLookMs = 5'000;
constexpr int kPauseMs = 100;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

SocketAddress socket_address(const ListenAddress& address) {
  SocketAddress out;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&out.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&out.storage);
  if (::inet_pton(AF_INET, address.ip.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(address.port);
    out.size = sizeof *v4;
  } else if (::inet_pton(AF_INET6, address.ip.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(address.port);
    out.size = sizeof *v6;
  }
  return out;
}

bool set_option(const UniqueFd& fd, int level, int name, int value) {
  return ::setsockopt(fd.get(), level, name, &value, sizeof value) == 0;
}

uint16_t port_of(const UniqueFd& fd) {
  SocketAddress bound;
  bound.size = sizeof bound.storage;
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound.storage), &bound.size) != 0)
    return 0;
  return ntohs(bound.storage.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&bound.storage)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&bound.storage)->sin_port);
}

Error listen_error(const ListenAddress& address, int problem) {
  Error error{ErrorCode::kIo,
              fmt::format("cannot listen on {}: {}", address.text(),
                          std::generic_category().message(problem)),
              {}};
  if (problem == EADDRINUSE) {
    error.hint = "another program listens there; choose another port, or 0 for a free one";
  } else if (problem == EACCES) {
    error.hint = "ports below 1024 need CAP_NET_BIND_SERVICE";
  }
  return error;
}

}  // namespace

Result<std::unique_ptr<TcpAcceptor>> TcpAcceptor::listen(const ListenAddress& address,
                                                         size_t max_connections) {
  const SocketAddress to = socket_address(address);
  UniqueFd listener(
      ::socket(to.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const bool is_v6 = to.storage.ss_family == AF_INET6;
  if (!listener.valid() || !wake.valid() || !set_option(listener, SOL_SOCKET, SO_REUSEADDR, 1) ||
      (is_v6 && !set_option(listener, IPPROTO_IPV6, IPV6_V6ONLY, address.every_address ? 0 : 1)) ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&to.storage), to.size) != 0 ||
      ::listen(listener.get(), kBacklog) != 0) {
    return listen_error(address, errno);
  }
  ListenAddress bound = address;
  bound.port = port_of(listener);
  return std::unique_ptr<TcpAcceptor>(
      new TcpAcceptor(std::move(bound), max_connections, std::move(listener), std::move(wake)));
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
    set_option(connection, IPPROTO_TCP, TCP_NODELAY, 1);
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
