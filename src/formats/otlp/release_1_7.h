// Messages of opentelemetry-proto 1.7, which async-profiler 4.1 and 4.2 write: profiles with
// several sample types, and samples that refer to a range of locations. They are rewritten with the
// field numbers of today, so that one reader serves all. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace vesta::otlp {

// The same profiles with the numbers of kLayoutJson. Every index into a table is one higher,
// because in 1.7 entry 0 may be a real one. kInvalidInput for ranges and numbers of values that do
// not fit, kLimit when ranges overlap so much that the stacks would outgrow the message by far.
Result<std::string> from_release_1_7(std::string_view message);

}  // namespace vesta::otlp
