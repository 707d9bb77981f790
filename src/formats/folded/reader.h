// Reads folded ("collapsed") stacks: one stack per line, root first, then a count. README.md beside
// this file has the layout. Pure functions; the result owns all it holds.
#pragma once

#include <string_view>

#include "base/result.h"
#include "formats/common/read_options.h"
#include "profile/profile.h"

namespace vesta {

// Whether the first lines all have the shape `frames… <number>`.
bool looks_like_folded(std::string_view bytes);

// One profile with the type samples:count, or, for a differential file, before:count and
// after:count.
Result<ProfileBatch> read_folded(std::string_view bytes, const ReadOptions& options);

}  // namespace vesta
