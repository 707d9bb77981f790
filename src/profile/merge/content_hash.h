// Stacks by content: a 128-bit hash over function, line and column, file, kind and the identity of
// the binary, so that equal stacks meet across processes, hosts and restarts, and unequal ones
// never do. The value is part of stored formats and must not change. Pure functions.
#pragma once

#include <vector>

#include "base/hash.h"
#include "profile/dictionary.h"

namespace vesta {

// One hash per stack, in the order of its locations. A location with names is known by them, one
// without by its offset in the binary; where it was mapped plays no part. The binary is known by
// its build id, or else by its path.
std::vector<Hash128> stack_hashes(const Dictionary& dictionary);

}  // namespace vesta
