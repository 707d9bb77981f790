// How many connections the process can take without running out of files, which its store needs
// too. Each raises the limit of the process to all that it may have. Thread-safe.
#pragma once

#include <cstddef>

namespace vesta::server {

size_t http_connection_cap();
size_t grpc_connection_cap();

}  // namespace vesta::server
