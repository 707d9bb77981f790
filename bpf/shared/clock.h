// What a tick of a CPU's clock stands for, and what is needed to change its rate without a gap. One
// per CPU.
#pragma once

#include "shared/types.h"

struct vesta_clock {
  __u64 period_ns;
  // The stretch between the last tick at the old rate and the moment the clock started again: the
  // first tick at the new rate ends it too, and stands for both.
  __u64 carried_ns;
  // A tick after this one is not the first: that one met an idle CPU, and idle time has no weight.
  __u64 carried_until_ns;
  __u64 last_tick_ns;  // 0 = none yet
  __u64 padding[4];    // a line of the cache for each CPU
};
VESTA_STATIC_ASSERT(sizeof(struct vesta_clock) == 64, "one cache line");
