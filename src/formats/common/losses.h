// Names of losses that several readers count, beside those of read_options.h. Constants only.
#pragma once

namespace vesta {

inline constexpr const char* kLossUnparsedLine = "unparsed line";
// Differences of profiles have negative values; anywhere else they are a sign of damage. They are
// kept, and noted unless ReadOptions::allow_negative says that they are expected.
inline constexpr const char* kLossNegative = "samples with negative values (kept)";

}  // namespace vesta
