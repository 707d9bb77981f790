// Two profiles side by side: which functions got slower. Pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "profile/frame_profile.h"
#include "profile/top_table.h"

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

struct DiffRow {
  TopRow top;
  int64_t flat_delta = 0;
  int64_t cum_delta = 0;
};

// What grew most in flat (or cumulative) weight first, what shrank most last; ties by name, then by
// the size of the other change, as pprof has them.
// REQUIRES: profile.has_baseline
std::vector<DiffRow> diff_table(const FrameProfile& profile, TopOrder order);

}  // namespace vesta
