#include "net/listen_socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace vesta {
namespace {

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
    error.hint = "another program uses this port; choose another port, or 0 for a free one";
  } else if (problem == EACCES) {
    error.hint = "ports below 1024 need CAP_NET_BIND_SERVICE";
  }
  return error;
}

}  // namespace

Result<ListenSocket> listen_on(const ListenAddress& address, int backlog) {
  const SocketAddress to = socket_address(address);
  const bool is_v6 = to.storage.ss_family == AF_INET6;
  ListenSocket out;
  out.fd = UniqueFd(
      ::socket(to.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!out.fd.valid() || !set_option(out.fd, SOL_SOCKET, SO_REUSEADDR, 1) ||
      (is_v6 && !set_option(out.fd, IPPROTO_IPV6, IPV6_V6ONLY, address.every_address ? 0 : 1)) ||
      ::bind(out.fd.get(), reinterpret_cast<const sockaddr*>(&to.storage), to.size) != 0 ||
      ::listen(out.fd.get(), backlog) != 0) {
    return listen_error(address, errno);
  }
  out.address = address;
  out.address.port = port_of(out.fd);
  return out;
}

}  // namespace vesta
