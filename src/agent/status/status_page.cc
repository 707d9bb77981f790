#include "agent/status/status_page.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "net/listen_socket.h"

namespace vesta::agent {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kBacklog = 16;
constexpr size_t kMaxHeadBytes = 8192;
constexpr std::string_view kHeadEnd = "\r\n\r\n";

std::string response(int status, std::string_view reason, std::string_view type,
                     std::string_view body, bool head_only = false) {
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n"
      "X-Content-Type-Options: nosniff\r\n\r\n",
      status, reason, type, body.size());
  if (!head_only) text += body;
  return text;
}

}  // namespace

std::optional<StatusRequest> parse_status_request(std::string_view head) {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || last == first) return std::nullopt;
  StatusRequest request;
  request.method = line.substr(0, first);
  request.path = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (request.method.empty() || !request.path.starts_with('/') ||
      request.path.find(' ') != std::string_view::npos ||
      (version != "HTTP/1.1" && version != "HTTP/1.0")) {
    return std::nullopt;
  }
  request.path = request.path.substr(0, request.path.find('?'));
  return request;
}

Result<std::unique_ptr<StatusPage>> StatusPage::start(const StatusPageOptions& options,
                                                      StatusPageContent content) {
  std::unique_ptr<StatusPage> page(new StatusPage());
  page->options_ = options;
  page->content_ = std::move(content);
  VESTA_ASSIGN(const ListenAddress address, parse_listen_address(options.address, "agent.metrics"));
  auto socket = listen_on(address, kBacklog);
  if (!socket.ok()) {
    Error error = std::move(socket).error();
    error.hint = "set agent.metrics to another address, or to \"\" to disable it";
    return error;
  }
  ListenSocket bound = std::move(*socket);
  page->listener_ = std::move(bound.fd);
  page->address_ = std::move(bound.address);
  page->stop_event_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  StatusPage* const raw = page.get();
  page->thread_ = std::jthread([raw](const std::stop_token& stop) { raw->run(stop); });
  return page;
}

StatusPage::~StatusPage() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  const uint64_t one = 1;
  (void)!::write(stop_event_.get(), &one, sizeof(one));
  thread_.join();
}

std::string StatusPage::answer(std::string_view head) const {
  constexpr std::string_view kPlain = "text/plain; charset=utf-8";
  const auto request = parse_status_request(head);
  if (!request) return response(400, "Bad Request", kPlain, "not an HTTP request\n");
  if (request->method != "GET" && request->method != "HEAD")
    return response(405, "Method Not Allowed", kPlain, "only GET and HEAD\n");
  const bool head_only = request->method == "HEAD";
  if (request->path == "/metrics") {
    return response(200, "OK", "text/plain; version=0.0.4; charset=utf-8", content_.metrics(),
                    head_only);
  }
  if (request->path == "/healthz") {
    const std::vector<std::string> problems = content_.problems();
    std::string text = problems.empty() ? "ok\n" : "";
    for (const std::string& problem : problems) text += problem + "\n";
    if (content_.warnings) {
      for (const std::string& warning : content_.warnings()) text += "warning: " + warning + "\n";
    }
    if (problems.empty()) return response(200, "OK", kPlain, text, head_only);
    return response(503, "Service Unavailable", kPlain, text, head_only);
  }
  return response(404, "Not Found", kPlain, "not found; try /metrics or /healthz\n", head_only);
}

void StatusPage::accept_one() {
  UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd.valid()) return;
  Connection connection;
  connection.fd = std::move(fd);
  connection.deadline = Clock::now() + options_.timeout;
  connections_.push_back(std::move(connection));
}

bool StatusPage::serve(Connection& connection, short events) const {
  if ((events & (POLLERR | POLLNVAL)) != 0) return false;
  if ((events & (POLLIN | POLLHUP)) != 0) {
    std::array<char, 2048> part{};
    const ssize_t bytes = ::recv(connection.fd.get(), part.data(), part.size(), 0);
    if (bytes == 0) return false;
    if (bytes < 0) return errno == EAGAIN || errno == EINTR;
    // What comes after the head has no meaning here, and is read only so that closing is clean.
    if (connection.out.empty()) {
      connection.in.append(part.data(), static_cast<size_t>(bytes));
      const size_t end = connection.in.find(kHeadEnd);
      if (end != std::string::npos) {
        connection.out = answer(std::string_view(connection.in).substr(0, end));
      } else if (connection.in.size() > kMaxHeadBytes) {
        connection.out = response(431, "Request Header Fields Too Large", "text/plain", "");
      }
    }
  }
  if (connection.out.empty() || connection.is_answered) return true;
  const ssize_t sent = ::send(connection.fd.get(), connection.out.data() + connection.sent,
                              connection.out.size() - connection.sent, MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN || errno == EINTR;
  connection.sent += static_cast<size_t>(sent);
  if (connection.sent == connection.out.size()) {
    connection.is_answered = true;
    ::shutdown(connection.fd.get(), SHUT_WR);
  }
  return true;
}

void StatusPage::run(const std::stop_token& stop) {
  std::vector<pollfd> fds;
  while (!stop.stop_requested()) {
    fds.clear();
    fds.push_back({stop_event_.get(), POLLIN, 0});
    const bool has_room = connections_.size() < options_.max_connections;
    fds.push_back({listener_.get(), static_cast<short>(has_room ? POLLIN : 0), 0});
    Clock::time_point next = Clock::time_point::max();
    for (const Connection& connection : connections_) {
      const bool sends = !connection.out.empty() && !connection.is_answered;
      fds.push_back(
          {connection.fd.get(), static_cast<short>(sends ? POLLIN | POLLOUT : POLLIN), 0});
      next = std::min(next, connection.deadline);
    }
    int wait_ms = -1;
    if (next != Clock::time_point::max()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
      wait_ms = static_cast<int>(std::max<int64_t>(left, 0));
    }
    if (::poll(fds.data(), fds.size(), wait_ms) < 0 && errno != EINTR) return;
    const Clock::time_point now = Clock::now();
    for (size_t i = connections_.size(); i-- > 0;) {
      Connection& connection = connections_[i];
      const short events = fds[i + 2].revents;
      if (now >= connection.deadline || (events != 0 && !serve(connection, events)))
        connections_.erase(connections_.begin() + static_cast<ptrdiff_t>(i));
    }
    if ((fds[1].revents & POLLIN) != 0) accept_one();
  }
}

}  // namespace vesta::agent
