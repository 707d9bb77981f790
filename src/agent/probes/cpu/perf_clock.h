// The clock that makes CPU samples: one perf event for each CPU, which ticks while the CPU is busy.
// A hardware counter of reference cycles where there is one (it also ticks where interrupts are
// off), else the kernel's software clock.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace vesta::agent {

enum class ClockSource { kAuto, kSoftware, kHardware };

// "cpu-clock" or "ref-cycles"; "auto".
std::string_view clock_source_name(ClockSource source);
// kUsage for another word.
Result<ClockSource> clock_source_of(std::string_view name);

struct PerfClock {
  ClockSource source = ClockSource::kSoftware;  // never kAuto
  uint64_t period = 0;                          // in units of the source: nanoseconds or cycles
  uint64_t period_ns = 0;                       // what one tick stands for
  uint64_t units_per_second = 1'000'000'000;
  // Why not hardware, for the user; empty when it is hardware or was not asked for.
  const char* fallback_reason = "";
};

// Finds a clock that opens on this machine. kPermission when perf events may not be opened at all,
// kUnsupported when hardware was asked for and there is none.
Result<PerfClock> choose_clock(ClockSource wanted, uint32_t frequency);

// The same clock, ticking at another rate.
PerfClock at_frequency(PerfClock clock, uint32_t frequency);

// Samples per second that the kernel lets an event take before it holds the event back, which would
// lose samples without a trace. UINT32_MAX when it does not say.
inline constexpr const char* kMaxSampleRate = "/proc/sys/kernel/perf_event_max_sample_rate";
uint32_t max_sample_rate(const char* file = kMaxSampleRate);

// A disabled event on one CPU, for all processes.
Result<UniqueFd> open_clock(const PerfClock& clock, int cpu);

}  // namespace vesta::agent
