// What the head of a request must be before anything is done with it, whichever version of HTTP
// brought it: every field that decides something stands there once, the host is one valid host, and
// the length of the body is beyond doubt. Where two programs could read a head differently, it is
// refused: the one in front of us may have let it through as something else. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/api.h"
#include "server/http/host_names.h"

namespace vesta::server {

enum class HttpVersion : uint8_t { k10, k11, k2 };

struct RequestHead {
  HttpVersion version = HttpVersion::k11;
  std::string_view target;     // as sent; of HTTP/2, its :path
  std::string_view authority;  // :authority of HTTP/2; empty in HTTP/1
  const Fields& headers;       // names in lower case
};

// kInvalidInput: answer 400, and close the connection, as nobody knows where the next request would
// begin.
Status check_head(const RequestHead& head);

// Whether a line of the head (as sent, HTTP/1) continues the one before, which RFC 9112 forbids:
// some programs read the continuation as a field of its own.
bool has_folded_line(std::string_view head);

// A page from elsewhere that the user's browser has open could otherwise write to a server that
// requires no token. Browsers say where a request comes from: in Sec-Fetch-Site, where the server
// has TLS or is on the same machine, and in Origin everywhere.
bool is_write_of_other_page(const HttpRequest& head, const HostNames& names);

}  // namespace vesta::server
