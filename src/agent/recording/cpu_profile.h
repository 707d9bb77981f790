// What every CPU profile of ours has in common: its types, and how it tells what went wrong. Pure
// functions.
#pragma once

#include <array>
#include <cstdint>

#include "agent/recording/resolved_samples.h"
#include "profile/dictionary_builder.h"
#include "profile/profile.h"

namespace vesta {

// Columns of values.
inline constexpr size_t kCpuTypes = 2;  // count of samples, nanoseconds
using UnwindResults = std::array<uint64_t, VESTA_UNWIND_RESULTS>;

Profile make_cpu_profile(DictionaryBuilder& dictionary, uint64_t period_ns, int64_t start_unix_ns,
                         int64_t duration_ns);

// Stacks that do not reach the outermost frame, by reason.
void add_unwind_losses(DictionaryBuilder& dictionary, Profile& profile,
                       const UnwindResults& results);

}  // namespace vesta
