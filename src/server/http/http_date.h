// The Date of an answer. Thread-safe.
#pragma once

#include <string>

namespace vesta::server {

// Now, as "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date();

}  // namespace vesta::server
