// A client that does exactly what a test says, byte by byte, over a plain socket or TLS. Blocking,
// with a time limit on every read. Test code only; one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"

namespace vesta::server::testing {

struct Reply {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

struct ClientTls {
  std::string ca;           // what the server's certificate must be of
  std::string certificate;  // shown to the server; may be empty
  std::string key;
};

class HttpClient {
 public:
  explicit HttpClient(uint16_t port);               // of 127.0.0.1
  HttpClient(uint16_t port, const ClientTls& tls);  // connected() is false when refused
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;

  bool connected() const;
  bool send(std::string_view bytes);
  void finish_sending();
  // One answer; none when the connection ends before it is complete, or nothing comes for 10 s.
  std::optional<Reply> read_reply(bool head_only = false);
  // Whether the server closes, within the time.
  bool closed_within(std::chrono::milliseconds time);
  std::string peer_certificate_name() const;  // of TLS: its common name

  std::optional<Reply> request(std::string_view method, std::string_view target,
                               std::string_view headers = {}, std::string_view body = {});
  std::optional<Reply> get(std::string_view target, std::string_view headers = {}) {
    return request("GET", target, headers);
  }

 private:
  struct Tls;
  long read_some(char* data, size_t size);

  UniqueFd socket_;
  std::unique_ptr<Tls> tls_;
  std::string pending_;
};

// Asks again until it holds, at most 20 s.
bool eventually(const std::function<bool()>& condition);

}  // namespace vesta::server::testing
