// An HTTP server that does with a request whatever a test says: answers, stalls, or hangs up in the
// middle. One connection at a time, one request each. Test code only.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/mutex.h"

namespace vesta::agent::test {

struct TestRequest {
  std::string target;  // path and query
  std::string head;    // all of it, names in lower case
  std::string body;
  bool has(std::string_view text) const { return head.find(text) != std::string::npos; }
};

class TestHttpServer {
 public:
  // What to write back, raw; the connection is closed afterwards.
  using Answer = std::function<std::string(const TestRequest&)>;
  explicit TestHttpServer(Answer answer) : answer_(std::move(answer)) {
    listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_.get(), 16);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~TestHttpServer() {
    stopping_ = true;
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::vector<TestRequest> requests() const {
    const MutexLock guard(lock_);
    return requests_;
  }

  static std::string reply(int status, std::string_view body = {}, std::string_view headers = {}) {
    return "HTTP/1.1 " + std::to_string(status) +
           " Word\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n" +
           std::string(headers) + "\r\n" + std::string(body);
  }

 private:
  void run() {
    while (!stopping_) {
      pollfd waiting{listener_.get(), POLLIN, 0};
      if (::poll(&waiting, 1, 20) <= 0) continue;
      const UniqueFd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (peer.valid()) serve(peer.get());
    }
  }
  void serve(int peer) {
    std::string bytes;
    char buffer[65536];
    size_t head_end = std::string::npos;
    size_t wanted = 0;
    while (head_end == std::string::npos || bytes.size() < wanted) {
      const ssize_t got = ::recv(peer, buffer, sizeof(buffer), 0);
      if (got <= 0) return;
      bytes.append(buffer, static_cast<size_t>(got));
      if (head_end != std::string::npos) continue;
      head_end = bytes.find("\r\n\r\n");
      if (head_end == std::string::npos) continue;
      std::string head = bytes.substr(0, head_end);
      std::ranges::transform(head, head.begin(),
                             [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      const size_t length = head.find("content-length: ");
      wanted = head_end + 4;
      if (length != std::string::npos)
        wanted += std::strtoul(head.c_str() + length + 16, nullptr, 10);
    }
    TestRequest request;
    request.head = bytes.substr(0, head_end);
    const size_t space = request.head.find(' ');
    request.target = request.head.substr(space + 1, request.head.find(' ', space + 1) - space - 1);
    std::ranges::transform(request.head, request.head.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    request.body = bytes.substr(head_end + 4);
    {
      const MutexLock guard(lock_);
      requests_.push_back(request);
    }
    const std::string answer = answer_(request);
    ::send(peer, answer.data(), answer.size(), MSG_NOSIGNAL);
  }

  const Answer answer_;
  UniqueFd listener_;
  uint16_t port_ = 0;
  std::atomic<bool> stopping_ = false;
  mutable Mutex lock_;
  std::vector<TestRequest> requests_ GUARDED_BY(lock_);
  std::thread thread_;
};

}  // namespace vesta::agent::test
