// Two profiles side by side: which functions got slower. Pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "profile/frame_profile.h"
#include "reports/function_changes.h"

namespace vesta {

enum class DiffScale {
  kAbsolute,    // values as they are
  kRate,        // `before` is scaled to the duration of `after`: per second of profile time
  kNormalized,  // `after` is scaled so that both totals are equal: for runs of different length or
                // load
};

// Puts both into one dictionary and compares the type found by `type_word` in each. Warns when the
// sides are not of like duration, and when rates are asked for that are not known: values are then
// compared as they are. kUsage when either has no such type, or the units differ.
Result<FrameProfile> compare_profiles(const ProfileBatch& before, const ProfileBatch& after,
                                      std::string_view type_word, DiffScale scale,
                                      const FrameOptions& options);

// The table of a comparison, with what may be chance (function_changes.h) where samples are known.
// REQUIRES: profile.has_baseline
FunctionTable diff_table(const FrameProfile& profile);

}  // namespace vesta
