// A Vesta server, as commands see it: where it is and how to ask it. Built from the flags --server
// and --token or the environment (VESTA_SERVER, VESTA_TOKEN). Plain data; every call is one
// request.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "net/http_client.h"

namespace vesta::cli {

// The words of an error {"code": …, "message": …}, or the first line of the text.
std::string message_of(const std::string& body);

class ServerClient {
 public:
  using Parameters = std::vector<std::pair<std::string, std::string>>;

  // kUsage for an address that is none.
  static Result<ServerClient> from(const Arguments& arguments);

  const std::string& url() const { return url_; }
  // Of each call; ten minutes unless set.
  void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

  // The body of an answer of 2xx. Otherwise what the server says is wrong, in its words.
  Result<std::string> get(std::string_view path, const Parameters& parameters,
                          uint64_t max_bytes) const;
  // The same with the headers of the answer.
  Result<HttpAnswer> ask(std::string_view path, const Parameters& parameters,
                         uint64_t max_bytes) const;
  Result<std::string> post(std::string_view path, const Parameters& parameters,
                           std::string body) const;
  Result<std::string> remove(std::string_view path, const Parameters& parameters) const;

 private:
  Result<HttpAnswer> call(std::string_view method, std::string_view path,
                          const Parameters& parameters, std::string body, uint64_t max_bytes) const;

  std::string url_;
  std::string token_;
  std::string tenant_;
  std::chrono::milliseconds timeout_ = std::chrono::minutes(10);
};

// A selector such as `cpu{service_name="checkout"}`, or the short name of a type; a file of that
// name is a file.
bool is_selector(const std::string& source);

// A selector that begins and does not end, `cpu{service_name="checkout"`, and is not a file.
bool is_unclosed_selector(const std::string& source);
// What to try when a selector finds nothing.
inline constexpr const char* kSeriesHint =
    "vesta query series lists what the server has; --from and --to set the time range";

// --server, --token, --tenant, and the range --from, --to.
std::vector<Flag> server_flags();
// The flags --from and --to as parameters; `prefix` "base-" takes --base-from and --base-to first.
ServerClient::Parameters range_of(const Arguments& arguments, std::string_view prefix = {});

// The selector as servers read it: --type goes before one that has none.
std::string query_of(const std::string& selector, const Arguments& arguments);
// What the selector stands for, as pprof bytes.
Result<std::string> fetch_selector(const std::string& selector, const Arguments& arguments,
                                   uint64_t max_bytes, std::string_view range_prefix = {});

}  // namespace vesta::cli
