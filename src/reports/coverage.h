// How much of a selection can be trusted: what has a name, what was unwound to its end, what was
// lost. Pure function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/selection.h"

namespace vesta {

struct Coverage {
  int64_t total = 0;  // all weights are absolute values
  // Shares, 1 where there is nothing.
  double named = 1;         // of the weight, by the innermost frame
  double named_frames = 1;  // of all frames, each with the weight that goes through it
  double complete = 1;      // of the weight: stacks without a mark that something is missing
  struct Mark {
    std::string name;  // "[truncated]", "[incomplete: …]", "[lost: …]"
    int64_t weight = 0;
  };
  std::vector<Mark> marks;  // largest first
  // Binaries with weight in nameless frames, largest first, twenty at most.
  struct Binary {
    std::string path;
    std::string build_id;
    int64_t unnamed = 0;
  };
  std::vector<Binary> unnamed_binaries;
  std::vector<LossCount> losses;
};

Coverage coverage_of(const Selection& selection);
// `named` alone, which is cheaper.
double named_share(const Selection& selection);

}  // namespace vesta
