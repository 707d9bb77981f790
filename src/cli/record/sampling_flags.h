// Flags that say how to sample and how to name, shared by all commands that sample. Plain
// functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/probes/probe_table.h"
#include "agent/profiles/recording.h"
#include "cli/command.h"

namespace vesta::cli {

inline constexpr int64_t kMaxFrequency = 9999;
// Above this, people are told what sampling costs.
inline constexpr int64_t kCostlyFrequency = 999;

std::vector<Flag> sampling_flags();
// -e, for commands that can show several kinds of events.
Flag event_flag();

// What -e asks for, in that order: each word is KIND or KIND=RATE; no word: the default.
// `rate` is that of -F, for all kinds that have a clock and none of their own. kUsage for a kind
// that does not exist or comes twice, for a rate out of range, and for one that no clock follows.
Result<std::vector<agent::ProbeRequest>> choose_probes(
    const std::vector<std::string>& words, std::optional<uint32_t> rate,
    std::span<const agent::ProbeKind> kinds = agent::probe_kinds());

// Sets what the flags say. A frequency above the kernel's limit becomes that limit, with a note.
Status apply_sampling_flags(const Arguments& arguments, Console& console,
                            agent::RecordingOptions& recording);

// Nanoseconds of --NAME; kUsage when it is not a duration.
Result<int64_t> duration_of(const Arguments& arguments, const std::string& name,
                            int64_t fallback_ns);

}  // namespace vesta::cli
