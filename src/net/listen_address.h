// Where a server listens, as people write it: "127.0.0.1:4040", "[::1]:4040", "localhost:4040",
// ":4040" or "*:4040" for every address of the machine. Plain functions; they ask the resolver for
// host names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace vesta {

struct ListenAddress {
  std::string ip;  // IPv4 or IPv6, no brackets
  uint16_t port = 0;
  bool every_address = false;  // both families, where the machine has both

  bool is_loopback() const;
  std::string text() const;  // "[::1]:4040"
};

// kUsage when it is no address, kNotFound when a host name has none. `what` is who asks, for the
// message: "--http".
Result<ListenAddress> parse_listen_address(std::string_view text, std::string_view what);

}  // namespace vesta
