// Keeps a mapped file that shrinks from ending us: touching a page behind its new end raises
// SIGBUS, which here puts a page of zeros in that place and goes on. Process-wide by nature of
// signals; installed with the first guarded range. Thread-safe.
#pragma once

#include <cstddef>

namespace vesta {

// False when the table of ranges is full (4096) or the handler cannot be installed.
bool guard_mapped_file(const void* start, size_t bytes);
void unguard_mapped_file(const void* start);

}  // namespace vesta
