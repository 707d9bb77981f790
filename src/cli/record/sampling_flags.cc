#include "cli/record/sampling_flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/units.h"
#include "unwind/table_cache.h"

namespace vesta::cli {
namespace {

constexpr int64_t kDefaultFrequency = 99;
constexpr int64_t kHighFrequency = 199;

DemangleStyle demangle_style(const std::string& word) {
  if (word == "full") return DemangleStyle::kFull;
  return word == "off" ? DemangleStyle::kOff : DemangleStyle::kShort;
}

ClockSource clock_source(const std::string& word) {
  if (word == "cpu-clock") return ClockSource::kSoftware;
  return word == "ref-cycles" ? ClockSource::kHardware : ClockSource::kAuto;
}

Result<uint32_t> frequency_of(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(const int64_t wanted,
               arguments.integer("frequency", kDefaultFrequency, 1, kMaxFrequency));
  const auto frequency = static_cast<uint32_t>(wanted);
  const uint32_t limit = max_sample_rate();
  if (frequency <= limit) return frequency;
  console.note(
      fmt::format("sampling {} times per second instead of {}: the kernel allows no more "
                  "(sysctl kernel.perf_event_max_sample_rate={} raises that)",
                  limit, frequency, frequency));
  return limit;
}

}  // namespace

std::vector<Flag> sampling_flags() {
  return {
      {"frequency", 'F', "HZ",
       fmt::format("samples per second and CPU, 1 to {} (default: {}); above {} sampling itself "
                   "takes a visible share of the CPUs, which the summary states",
                   kMaxFrequency, kDefaultFrequency, kCostlyFrequency)},
      {"no-kernel", 0, "", "leave out what happens inside the kernel"},
      {"demangle",
       0,
       "STYLE",
       "C++ and Rust names: short (default), full, or off",
       {"short", "full", "off"}},
      {"no-inlines", 0, "", "no frames for inlined functions"},
      {"clock",
       0,
       "CLOCK",
       "what makes samples: auto (default), cpu-clock or ref-cycles (hardware)",
       {"auto", "cpu-clock", "ref-cycles"}}};
}

Status apply_sampling_flags(const Arguments& arguments, Console& console,
                            RecordingOptions& recording) {
  SamplingOptions& sampling = recording.sampling;
  VESTA_ASSIGN(sampling.frequency, frequency_of(arguments, console));
  // More room than a first recording needs: while tables are built, stacks are copied.
  if (sampling.frequency > kHighFrequency) {
    const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
    sampling.ring_bytes =
        2 * ring_bytes_for(sampling.frequency, static_cast<uint32_t>(std::max(cpus, 1L)));
  }
  sampling.clock = clock_source(arguments.get("clock"));
  sampling.kernel_stacks = !arguments.has("no-kernel");
  sampling.cache_folder = UnwindTableCache::default_folder();
  SymbolOptions& symbols = recording.symbolizer.symbols;
  symbols.demangle = demangle_style(arguments.get("demangle"));
  symbols.inlines = !arguments.has("no-inlines");
  // Only when the environment names servers.
  if (auto debuginfod = Debuginfod::open({}); debuginfod.ok())
    symbols.debuginfod = std::move(*debuginfod);
  return {};
}

Result<int64_t> duration_of(const Arguments& arguments, const std::string& name,
                            int64_t fallback_ns) {
  if (!arguments.has(name)) return fallback_ns;
  const auto duration = parse_duration_ns(arguments.get(name));
  if (duration && *duration >= 0) return *duration;
  return Error{ErrorCode::kUsage, fmt::format("'{}' is not a valid duration", arguments.get(name)),
               fmt::format("for example --{0} 30s, --{0} 2m", name)};
}

}  // namespace vesta::cli
