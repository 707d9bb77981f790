// Reads speedscope's JSON file format: sampled and evented profiles over shared frames. README.md
// beside this file has the fields. Pure functions; the result owns all it holds.
#pragma once

#include <string_view>

#include "base/result.h"
#include "formats/common/read_options.h"
#include "profile/profile.h"

namespace vesta {

// Whether it is a JSON object that names speedscope's schema.
bool looks_like_speedscope(std::string_view bytes);

// One profile per kind of unit (time:nanoseconds, space:bytes, samples:count); the names of the
// file's profiles become the label `profile_name` of their samples.
Result<ProfileBatch> read_speedscope(std::string_view bytes, const ReadOptions& options);

}  // namespace vesta
