#include "net/listen_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <memory>

namespace vesta {
namespace {

Error bad_address(std::string_view text, std::string_view what) {
  return {ErrorCode::kUsage, fmt::format("{}: '{}' is not a valid listen address", what, text),
          "use ADDRESS:PORT, for example 127.0.0.1:4040, [::1]:4040 or :4040"};
}

bool has_ipv6() {
  const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_addr = in6addr_any;
  const bool works = ::bind(fd, reinterpret_cast<sockaddr*>(&any), sizeof(any)) == 0;
  ::close(fd);
  return works;
}

Result<std::string> resolve(const std::string& host, std::string_view what) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_family = AF_UNSPEC;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  if (error != 0 || found == nullptr) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: cannot resolve '{}': {}", what, host, ::gai_strerror(error)),
                 "use an IP address"};
  }
  // "localhost" means 127.0.0.1 to most clients, whatever the resolver lists first.
  const addrinfo* best = found;
  for (const addrinfo* i = found; i != nullptr; i = i->ai_next) {
    if (i->ai_family == AF_INET) {
      best = i;
      break;
    }
  }
  std::array<char, NI_MAXHOST> text{};
  if (::getnameinfo(best->ai_addr, best->ai_addrlen, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) != 0) {
    return bad_address(host, what);
  }
  return std::string(text.data());
}

}  // namespace

bool ListenAddress::is_loopback() const {
  if (every_address) return false;
  in_addr v4{};
  if (::inet_pton(AF_INET, ip.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return ::inet_pton(AF_INET6, ip.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

std::string ListenAddress::text() const {
  return ip.find(':') == std::string::npos ? fmt::format("{}:{}", ip, port)
                                           : fmt::format("[{}]:{}", ip, port);
}

Result<ListenAddress> parse_listen_address(std::string_view text, std::string_view what) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad_address(text, what);
  const std::string_view digits = text.substr(colon + 1);
  std::string_view host = text.substr(0, colon);
  ListenAddress address;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (error != std::errc() || end != digits.data() + digits.size()) return bad_address(text, what);
  if (host.empty() || host == "*") {
    address.every_address = true;
    address.ip = has_ipv6() ? "::" : "0.0.0.0";
    return address;
  }
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!bracketed && host.find(':') != std::string_view::npos) return bad_address(text, what);
  VESTA_ASSIGN(address.ip, resolve(std::string(host), what));
  address.every_address = address.ip == "::" || address.ip == "0.0.0.0";
  return address;
}

}  // namespace vesta
