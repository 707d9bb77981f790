#include "agent/probes/cpu/perf_clock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "agent/kernel/privileges.h"

namespace vesta::agent {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;

perf_event_attr attributes(const PerfClock& clock) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  if (clock.source == ClockSource::kHardware) {
    attr.type = PERF_TYPE_HARDWARE;
    attr.config = PERF_COUNT_HW_REF_CPU_CYCLES;
  } else {
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
  }
  // A period, not a frequency: every tick then stands for the same time, so that weights add up to
  // CPU time.
  attr.sample_period = clock.period;
  attr.exclude_idle = 1;
  attr.disabled = 1;
  return attr;
}

int perf_event_open(perf_event_attr& attr, pid_t pid, int cpu) {
  return static_cast<int>(
      ::syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

// Reference cycles per second: they run with the time-stamp counter, whose rate the kernel
// publishes in the first page of a mapped event. 0 when it does not.
uint64_t reference_frequency() {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_HARDWARE;
  attr.config = PERF_COUNT_HW_REF_CPU_CYCLES;
  attr.disabled = 1;
  const UniqueFd fd(perf_event_open(attr, 0, -1));
  if (!fd.valid()) return 0;
  const auto page_bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* const mapped = ::mmap(nullptr, page_bytes, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) return 0;
  const auto* page = static_cast<const perf_event_mmap_page*>(mapped);
  uint64_t frequency = 0;
  if (page->cap_user_time != 0 && page->time_mult != 0) {
    // ns = cycles * time_mult >> time_shift
    frequency = static_cast<uint64_t>(
        std::ldexp(static_cast<double>(kNsPerSecond), page->time_shift) / page->time_mult);
  }
  ::munmap(mapped, page_bytes);
  return frequency;
}

}  // namespace

std::string_view clock_source_name(ClockSource source) {
  switch (source) {
    case ClockSource::kSoftware:
      return "cpu-clock";
    case ClockSource::kHardware:
      return "ref-cycles";
    case ClockSource::kAuto:
      break;
  }
  return "auto";
}

Result<ClockSource> clock_source_of(std::string_view name) {
  for (const ClockSource source :
       {ClockSource::kAuto, ClockSource::kSoftware, ClockSource::kHardware}) {
    if (clock_source_name(source) == name) return source;
  }
  return Error{ErrorCode::kUsage, fmt::format("unknown clock '{}'", name),
               "use auto, cpu-clock or ref-cycles"};
}

PerfClock at_frequency(PerfClock clock, uint32_t frequency) {
  clock.period_ns = kNsPerSecond / frequency;
  clock.period = clock.units_per_second / frequency;
  return clock;
}

Result<PerfClock> choose_clock(ClockSource wanted, uint32_t frequency) {
  PerfClock clock;
  if (wanted != ClockSource::kSoftware) {
    clock.source = ClockSource::kHardware;
    clock.units_per_second = reference_frequency();
    clock = at_frequency(clock, frequency);
    if (clock.period != 0 && open_clock(clock, 0).ok()) return clock;
    if (wanted == ClockSource::kHardware) {
      return Error{ErrorCode::kUnsupported, "this machine has no hardware counter of CPU cycles",
                   "virtual machines often hide it; try --clock cpu-clock"};
    }
    clock.fallback_reason = "no hardware counters";
  }
  clock.source = ClockSource::kSoftware;
  clock.units_per_second = kNsPerSecond;
  clock = at_frequency(clock, frequency);
  VESTA_ASSIGN(const UniqueFd probe, open_clock(clock, -1));
  return clock;
}

uint32_t max_sample_rate(const char* file) {
  const UniqueFd fd(::open(file, O_RDONLY | O_CLOEXEC));
  std::array<char, 32> text{};
  const ssize_t got = fd.valid() ? ::read(fd.get(), text.data(), text.size()) : 0;
  uint32_t rate = 0;
  if (got > 0) (void)std::from_chars(text.data(), text.data() + got, rate);
  return rate == 0 ? std::numeric_limits<uint32_t>::max() : rate;
}

Result<UniqueFd> open_clock(const PerfClock& clock, int cpu) {
  perf_event_attr attr = attributes(clock);
  // CPU -1 is a mere probe: this process on any CPU.
  UniqueFd fd(perf_event_open(attr, cpu < 0 ? 0 : -1, cpu));
  if (fd.valid()) return fd;
  const int error_number = errno;
  const std::string where = cpu < 0 ? "" : fmt::format(" on CPU {}", cpu);
  Error error = permission_error(
      fmt::format("open a {} event{}", clock_source_name(clock.source), where), error_number);
  if (error_number == EMFILE) {
    error.hint = "raise the limit of open files (ulimit -n)";
  } else if (error_number == ENODEV || error_number == ENXIO) {
    error.code = ErrorCode::kNotFound;  // the CPU has just gone
  }
  return error;
}

}  // namespace vesta::agent
