// The host and port of a request, as in Host, in Origin or in an absolute target. Strict: a name,
// an IPv4 address or an IPv6 address in brackets, and nothing that another program on the way could
// read differently. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace vesta::server {

struct Authority {
  std::string host;  // in lower case, without brackets and without a dot at the end
  bool is_address = false;
  std::optional<uint16_t> port;

  bool operator==(const Authority&) const = default;
};

// "localhost:4040", "[::1]", "10.0.0.1". kInvalidInput for anything else.
Result<Authority> parse_authority(std::string_view text);

// "http" or "https": the port that is meant where none is written.
std::optional<uint16_t> default_port(std::string_view scheme);

// Whether both mean the same place, when a port that is not written is that of the scheme.
bool is_same_place(const Authority& a, const Authority& b, std::string_view scheme);

}  // namespace vesta::server
