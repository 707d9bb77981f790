// The other side of HTTP/2 for tests: nghttp2 as a client, bytes in and bytes out. Test code only.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/api.h"

namespace vesta::server::testing {

class Http2Client {
 public:
  struct Answer {
    std::map<std::string, std::string> headers;
    std::map<std::string, std::string> trailers;
    std::string body;
    bool ended = false;
    std::optional<uint32_t> closed;  // with this code
  };

  // `window`: bytes that an answer may send; with 0 the client never makes room.
  explicit Http2Client(uint32_t window = 65'535);
  ~Http2Client();
  Http2Client(const Http2Client&) = delete;
  Http2Client& operator=(const Http2Client&) = delete;

  // The stream. Without `end`, the body stays open.
  int32_t request(const std::string& method, const std::string& path, const Fields& more = {},
                  const std::optional<std::string>& body = std::nullopt, bool end = true);
  void reset(int32_t stream);
  void ping();

  std::string output();
  void receive(std::string_view bytes);

  std::map<int32_t, Answer> answers;
  std::optional<uint32_t> goaway;

 private:
  struct Body {
    std::string bytes;
    size_t at = 0;
    bool end = true;
  };
  nghttp2_session* session_ = nullptr;
  std::vector<std::unique_ptr<Body>> bodies_;
};

}  // namespace vesta::server::testing
