// Makes pprof profiles of any size that look like those of a large program: stacks are walks
// through a call tree, so frames near the root are shared and those near the leaf are rare. The
// same shape and seed give the same bytes. Pure function.
#pragma once

#include <cstdint>
#include <string>

namespace vesta {

struct SyntheticShape {
  uint32_t samples = 1'000'000;
  uint32_t locations = 200'000;
  uint32_t depth = 25;       // on average
  uint32_t label_every = 4;  // of so many samples, one has labels; 0: none
  uint32_t seed = 1;
};

// Two sample types, as a CPU profile of Go has; uncompressed.
std::string make_synthetic_pprof(const SyntheticShape& shape);

}  // namespace vesta
