// Ids of requests whose client sent none. Thread-safe.
#pragma once

#include <string>

namespace vesta::server {

// 16 hexadecimal digits, not to be guessed from earlier ones by accident, not a secret either.
std::string new_request_id();

}  // namespace vesta::server
