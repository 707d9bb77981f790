// Who is sampled when not every process is, as the programs and user space tell each other.
#pragma once

#include "shared/types.h"

// Values of the map `targets`.
enum vesta_target_kind {
  VESTA_TARGET_PROCESS = 1,  // all of it, and what it forks
  VESTA_TARGET_THREADS = 2,  // only its threads in `target_threads`
  VESTA_TARGET_HELD = 3,     // nothing of it until it runs a program, then all of it
};

enum {
  // Each costs a look at every tick, so there is a bound.
  VESTA_MAX_TARGET_CGROUPS = 64,
};
