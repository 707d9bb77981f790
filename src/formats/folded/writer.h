// Writes folded stacks, for flame graph tools and for grep. Pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "profile/profile.h"

namespace vesta {

// The values of one sample type of one profile, a line per different stack, sorted. Empty when the
// batch has no such profile or type. A `;` in a name becomes `:`, control characters become spaces.
std::string write_folded(const ProfileBatch& batch, size_t type = 0, size_t profile = 0);

}  // namespace vesta
