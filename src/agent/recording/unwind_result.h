// Words for how the walk over a user stack ended, for people: losses in profiles, progress,
// metrics.
#pragma once

#include <string_view>

#include <shared/sample.h>

namespace vesta {

// "no unwind rule", "stack memory not readable" …; "complete" for VESTA_UNWIND_COMPLETE.
std::string_view unwind_result_name(vesta_unwind_result result);

// Whether the stack is whole: it reached the outermost frame, or there is no user stack at all.
constexpr bool is_whole(vesta_unwind_result result) {
  return result == VESTA_UNWIND_COMPLETE || result == VESTA_UNWIND_NO_USER;
}

}  // namespace vesta
