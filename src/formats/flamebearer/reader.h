// Reads flamebearer JSON, the flame graph that Pyroscope's render API answers with. README.md
// beside this file has the layout. Pure functions; the result owns all it holds.
#pragma once

#include <string_view>

#include "base/result.h"
#include "formats/common/read_options.h"
#include "profile/profile.h"

namespace vesta {

// Whether it is a JSON object with a key "flamebearer".
bool looks_like_flamebearer(std::string_view bytes);

// One profile; with the types `left` and `right` when the file is a comparison.
Result<ProfileBatch> read_flamebearer(std::string_view bytes, const ReadOptions& options);

}  // namespace vesta
