// The name of the calling thread, as top -H and a profiler of ourselves show it.
#pragma once

#include <pthread.h>

namespace vesta {

// At most 15 characters; a longer name is not taken.
inline void name_thread(const char* name) {
  (void)::pthread_setname_np(::pthread_self(), name);
}

}  // namespace vesta
