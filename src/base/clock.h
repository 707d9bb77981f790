// Reads clocks. What needs the time is given a UnixClock or a MonotonicClock, so that tests can give
// one of their own. Any thread.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>

#include "base/time.h"

namespace vesta {

using UnixClock = std::function<UnixNs()>;
using MonotonicClock = std::function<MonotonicNs()>;

// Of any clock, also of those that count the CPU time of a thread or a process.
inline uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec * kSecond + now.tv_nsec);
}

inline UnixNs unix_now() {
  return UnixNs(static_cast<int64_t>(clock_ns(CLOCK_REALTIME)));
}
// Since boot, never set back.
inline MonotonicNs monotonic_now() {
  return MonotonicNs(static_cast<int64_t>(clock_ns(CLOCK_MONOTONIC)));
}
inline BootNs boot_now() {
  return BootNs(static_cast<int64_t>(clock_ns(CLOCK_BOOTTIME)));
}

inline uint64_t monotonic_ns() {
  return clock_ns(CLOCK_MONOTONIC);
}

}  // namespace vesta
