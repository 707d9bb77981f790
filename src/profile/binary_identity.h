// How the `build_id` of a mapping says what kind of identity it is.
#pragma once

#include <string_view>

namespace vesta {

// Before the hexadecimal hash of a binary that carries no build id of its own. OpenTelemetry calls
// the hash "htlhash": of the file's head, tail and length. Build ids of GNU notes stand as plain
// hexadecimal, those of Go as their text.
inline constexpr std::string_view kFileHashPrefix = "htlhash:";

}  // namespace vesta
