// What a process read of its files to start, libraries for other roles among it, stays in its
// memory for good. Gives it back; what is still needed comes again from the page cache by itself.
// Thread-safe.
#pragma once

#include <cstdint>

namespace vesta::agent {

// Returns how many bytes of mappings the kernel was told about; 0 when it does not know how.
uint64_t release_startup_pages();

}  // namespace vesta::agent
