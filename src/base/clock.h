// The clock that the kernel's samples and events are stamped with. Pure but for reading it; any
// thread.
#pragma once

#include <cstdint>
#include <ctime>

namespace vesta {

inline uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Since boot, never set back.
inline uint64_t monotonic_ns() {
  return clock_ns(CLOCK_MONOTONIC);
}

}  // namespace vesta
