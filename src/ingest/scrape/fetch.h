// Fetching a profile from a target. A target is a program of somebody else: it decides neither
// which other machine the server talks to (redirects leave the target's own address never) nor what
// the server's users read (none of its words are in an error). Plain functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http_client.h"

namespace vesta {

// The body of a 200 answer to `call`, whose URL and headers are for the target alone.
Result<std::string> fetch_profile(HttpCall call);

// Where the answer to `url` leads: `location` as sent, resolved. None when it leads to another
// scheme, host or port.
std::optional<std::string> resolve_redirect(std::string_view url, std::string_view location);

}  // namespace vesta
