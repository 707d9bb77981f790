// Formats that describe stacks as a walk (open, close) or as a tree can ask for far more memory
// than they take themselves: a chain of n calls is n(n+1)/2 frames. This bounds it. Pure functions.
#pragma once

#include <algorithm>
#include <cstddef>

namespace vesta {

// How many frames all different stacks of an input may have together: ample for what real programs
// do, and proportional to the input.
inline size_t stack_frame_budget(size_t input_bytes) {
  return std::min<size_t>(size_t{1} << 31, (size_t{4} << 20) + 16 * input_bytes);
}

}  // namespace vesta
