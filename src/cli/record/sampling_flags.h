// Flags that say how to sample and how to name, shared by all commands that sample. Plain
// functions.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/recording/recording.h"
#include "cli/command.h"

namespace vesta::cli {

inline constexpr int64_t kMaxFrequency = 9999;
// Above this, people are told what sampling costs.
inline constexpr int64_t kCostlyFrequency = 999;

std::vector<Flag> sampling_flags();

// Sets what the flags say. A frequency above the kernel's limit becomes that limit, with a note.
Status apply_sampling_flags(const Arguments& arguments, Console& console,
                            RecordingOptions& recording);

// Nanoseconds of --NAME; kUsage when it is not a duration.
Result<int64_t> duration_of(const Arguments& arguments, const std::string& name,
                            int64_t fallback_ns);

}  // namespace vesta::cli
