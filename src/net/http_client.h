// HTTP requests, bounded in size and time. Plain function over libcurl, thread-safe; and an object
// that keeps its connection, for one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace vesta {

struct HttpCall {
  std::string method = "GET";
  std::string url;  // http or https
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  uint64_t max_bytes = uint64_t{64} << 20;  // of the answer; kLimit beyond
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds timeout{60'000};
  bool follow_redirects = true;  // within http and https only, of GET
  // Asked a few times a second; the transfer ends with kUnavailable once it is true.
  std::function<bool()> is_cancelled = {};
  std::string unix_socket;  // a path to connect to, whatever host the URL has; empty = by the URL
  std::string ca_file;      // in place of the system's; empty = the system's
  std::string cert_file;    // with key_file: shown to the other side, PEM
  std::string key_file;
  bool skip_verify = false;  // talks to whoever answers
};

struct HttpAnswer {
  int status = 0;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case

  // The first of that name; empty when there is none.
  std::string_view header(std::string_view name) const;
};

// Any answer, whatever its status. kIo when there is none.
Result<HttpAnswer> http_call(const HttpCall& call);

// The same for many calls to one place: the connection, and the TLS session with it, is kept from
// call to call where the other side lets it. One thread at a time.
class HttpConnection {
 public:
  HttpConnection();
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  Result<HttpAnswer> call(const HttpCall& call);

 private:
  void* curl_ = nullptr;  // null when the library cannot start
};

// "a b" → "a%20b"
std::string percent_encode(std::string_view text);

}  // namespace vesta
