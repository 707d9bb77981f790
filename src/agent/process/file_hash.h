// The identity of a file that carries no build id, as OpenTelemetry defines it for executables.
// Thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace vesta::agent {

// SHA-256 over the first and the last 4096 bytes (which may overlap) and the length, of which the
// first 16 bytes count, in hexadecimal. Empty when the file cannot be read, or is no longer as long
// as said.
std::string file_hash(int fd, uint64_t bytes);

}  // namespace vesta::agent
