// Words for how the walk over a user stack ended, for people: losses in profiles, progress,
// metrics.
#pragma once

#include <string_view>

#include <shared/sample.h>

namespace vesta::agent {

// "no unwind rule", "stack memory not readable" …; "complete" for VESTA_UNWIND_COMPLETE.
std::string_view unwind_result_name(vesta_unwind_result result);

// What a complete stack is, everywhere: the user stack was walked to its outermost frame, or there
// is none (a kernel thread).
constexpr bool is_complete_stack(vesta_unwind_result result) {
  return result == VESTA_UNWIND_COMPLETE || result == VESTA_UNWIND_NO_USER;
}

}  // namespace vesta::agent
