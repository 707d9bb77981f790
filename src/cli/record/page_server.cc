#include "cli/record/page_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/hex.h"

namespace vesta::cli {
namespace {

constexpr int kPollMs = 200;
constexpr int kRequestTimeoutSeconds = 2;
constexpr size_t kMaxRequestBytes = 16 * 1024;

Error socket_error(std::string_view what) {
  return {ErrorCode::kIo, fmt::format("cannot {}: {}", what, std::strerror(errno)), ""};
}

Result<std::string> random_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return socket_error("get random bytes");
  return to_hex(bytes);
}

void send_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

// The head of the request; empty when it does not come in time or is too long.
std::string read_head(int connection) {
  std::string head;
  std::array<char, 2048> buffer{};
  while (head.find("\r\n\r\n") == std::string::npos) {
    const ssize_t got = ::recv(connection, buffer.data(), buffer.size(), 0);
    if (got <= 0 || head.size() + static_cast<size_t>(got) > kMaxRequestBytes) return {};
    head.append(buffer.data(), static_cast<size_t>(got));
  }
  return head;
}

std::string response(std::string_view status, std::string_view body, bool with_body) {
  // The page carries its own policy; nothing may frame it or send its address elsewhere.
  std::string text = fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n"
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
      "Referrer-Policy: no-referrer\r\nConnection: close\r\n\r\n",
      status, body.size());
  if (with_body) text += body;
  return text;
}

}  // namespace

PageServer::PageServer(UniqueFd socket, uint16_t port, std::string token, std::string html)
    : socket_(std::move(socket)), port_(port), token_(std::move(token)), html_(std::move(html)) {}

Result<PageServer> PageServer::open(std::string html) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return socket_error("make a socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.get(), generic, size) != 0 || ::listen(socket.get(), 8) != 0 ||
      ::getsockname(socket.get(), generic, &size) != 0) {
    return socket_error("listen on 127.0.0.1");
  }
  VESTA_ASSIGN(std::string token, random_token());
  return PageServer(std::move(socket), ntohs(address.sin_port), std::move(token), std::move(html));
}

std::string PageServer::url() const {
  return fmt::format("http://127.0.0.1:{}/{}", port_, token_);
}

void PageServer::serve(const std::function<bool()>& should_stop) {
  while (!should_stop()) {
    pollfd waiting{socket_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, kPollMs) <= 0) continue;
    const UniqueFd connection(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.valid()) answer(connection.get());
  }
}

void PageServer::answer(int connection) const {
  const timeval timeout{kRequestTimeoutSeconds, 0};
  ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  ::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
  const std::string head = read_head(connection);
  const bool is_get = head.starts_with("GET ");
  if (!is_get && !head.starts_with("HEAD ")) {
    send_all(connection, response("405 Method Not Allowed", "Only GET works here.\n", true));
    return;
  }
  const size_t from = head.find(' ') + 1;
  const std::string path = head.substr(from, head.find_first_of(" \r", from) - from);
  // A page of another site that had its name pointed here would send that name as host.
  const bool is_our_host =
      head.find(fmt::format("\r\nHost: 127.0.0.1:{}\r\n", port_)) != std::string::npos;
  if (path != "/" + token_ || !is_our_host) {
    send_all(connection,
             response("404 Not Found", "Not found. Use the address that vesta printed.\n", is_get));
    return;
  }
  send_all(connection, response("200 OK", html_, is_get));
}

}  // namespace vesta::cli
