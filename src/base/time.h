// Points in time, each of one clock: what two clocks say cannot be compared or subtracted, and
// nothing becomes a point in time by accident. Lengths of time are nanoseconds, `int64_t x_ns`.
// Values; clock.h reads clocks. docs/decisions/036-clock-types.md says why.
#pragma once

#include <compare>
#include <cstdint>

namespace vesta {

// Lengths of time, in nanoseconds.
inline constexpr int64_t kMicrosecond = 1'000;
inline constexpr int64_t kMillisecond = 1'000 * kMicrosecond;
inline constexpr int64_t kSecond = 1'000 * kMillisecond;
inline constexpr int64_t kMinute = 60 * kSecond;
inline constexpr int64_t kHour = 60 * kMinute;
inline constexpr int64_t kDay = 24 * kHour;

// Nanoseconds since a clock began. A default one stands for "not known".
template <class Clock>
struct ClockTime {
  int64_t ns = 0;

  constexpr ClockTime() = default;
  constexpr explicit ClockTime(int64_t since_start_ns) : ns(since_start_ns) {}

  constexpr ClockTime& operator+=(int64_t by_ns) { return ns += by_ns, *this; }
  friend constexpr auto operator<=>(ClockTime, ClockTime) = default;
  friend constexpr int64_t operator-(ClockTime a, ClockTime b) { return a.ns - b.ns; }
  friend constexpr ClockTime operator+(ClockTime a, int64_t by) { return ClockTime(a.ns + by); }
  friend constexpr ClockTime operator-(ClockTime a, int64_t by) { return ClockTime(a.ns - by); }
};

using UnixNs = ClockTime<struct UnixTag>;            // on the wall; somebody may set it
using MonotonicNs = ClockTime<struct MonotonicTag>;  // the kernel's samples and events have it
using BootNs = ClockTime<struct BootTag>;            // as that, times of suspension included

}  // namespace vesta
