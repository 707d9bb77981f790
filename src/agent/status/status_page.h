// The agent's own small web page: /metrics and /healthz, nothing else. One thread, few connections,
// each with a deadline and one request. Functions may be called from any thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "net/listen_address.h"

namespace vesta::agent {

struct StatusPageOptions {
  std::string address = "127.0.0.1:4041";
  size_t max_connections = 8;  // more wait
  std::chrono::milliseconds timeout{5000};
};

// What the page shows. Called on its thread.
struct StatusPageContent {
  std::function<std::string()> metrics;
  std::function<std::vector<std::string>()> problems;  // none = healthy
  // What is wrong elsewhere, which a restart of the agent would not change. May be empty.
  std::function<std::vector<std::string>()> warnings = {};
};

// The first line of an HTTP/1.x request.
struct StatusRequest {
  std::string_view method;
  std::string_view path;  // without its query
};
// Of a whole head; nothing when it is no such request.
std::optional<StatusRequest> parse_status_request(std::string_view head);

class StatusPage {
 public:
  // kUsage for an address that is none, kIo when it is taken.
  static Result<std::unique_ptr<StatusPage>> start(const StatusPageOptions& options,
                                                   StatusPageContent content);
  ~StatusPage();
  StatusPage(const StatusPage&) = delete;
  StatusPage& operator=(const StatusPage&) = delete;

  const ListenAddress& address() const { return address_; }  // with the port it got

 private:
  struct Connection {
    UniqueFd fd;
    std::chrono::steady_clock::time_point deadline;
    std::string in;
    std::string out;
    size_t sent = 0;
    bool is_answered = false;  // all is sent; waits for the other side to close
  };

  StatusPage() = default;
  void run(const std::stop_token& stop);
  void accept_one();
  bool serve(Connection& connection, short events) const;  // false when it is over
  std::string answer(std::string_view head) const;

  StatusPageOptions options_;
  StatusPageContent content_;
  ListenAddress address_;
  UniqueFd listener_;
  UniqueFd stop_event_;
  std::vector<Connection> connections_;
  std::jthread thread_;
};

}  // namespace vesta::agent
