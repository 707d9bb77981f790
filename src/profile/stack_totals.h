// The weights of each stack of a profile, over all labels: reports without labels need not look at
// a stack more than once. Owns its columns. Immutable.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/frame_profile.h"

namespace vesta {

struct StackTotals {
  explicit StackTotals(const FrameProfile& profile) : value(profile.stacks.size()) {
    if (profile.has_baseline) baseline.resize(profile.stacks.size());
    for (const StackWeight& weight : profile.weights) {
      const size_t at = weight.stack.index();
      value[at] = saturating_add(value[at], weight.value);
      if (profile.has_baseline) baseline[at] = saturating_add(baseline[at], weight.baseline);
    }
  }
  std::vector<int64_t> value;
  std::vector<int64_t> baseline;  // empty without a baseline
};

}  // namespace vesta
