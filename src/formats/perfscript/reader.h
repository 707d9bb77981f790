// Reads the text that `perf script` prints, in its default form and with the usual -F fields.
// README.md beside this file has the layout. Pure functions; the result owns all it holds.
#pragma once

#include <string_view>

#include "base/result.h"
#include "formats/common/read_options.h"
#include "profile/profile.h"

namespace vesta {

// Whether the first lines are event headers and frames.
bool looks_like_perfscript(std::string_view bytes);

// One profile per event, with samples:count and, where perf printed periods, a second type that
// adds them up: cpu:nanoseconds for the CPU clocks, <event>:count for others.
Result<ProfileBatch> read_perfscript(std::string_view bytes, const ReadOptions& options);

}  // namespace vesta
