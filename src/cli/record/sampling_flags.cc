#include "cli/record/sampling_flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "agent/probes/cpu/perf_clock.h"
#include "agent/probes/probe.h"
#include "base/suggest.h"
#include "base/time_words.h"
#include "base/units.h"
#include "demangle/demangle.h"
#include "symbols/module_symbols.h"
#include "unwind/table_cache.h"

namespace vesta::cli {
namespace {

constexpr uint32_t kHighFrequency = 199;

DemangleStyle demangle_style(const std::string& word) {
  if (word == "full") return DemangleStyle::kFull;
  return word == "off" ? DemangleStyle::kOff : DemangleStyle::kShort;
}

std::vector<std::string> names_of(std::span<const agent::ProbeKind> kinds) {
  std::vector<std::string> names;
  for (const agent::ProbeKind& kind : kinds) names.emplace_back(kind.name);
  return names;
}

Error bad_event(std::string_view word, std::string hint) {
  return {ErrorCode::kUsage, fmt::format("--event cannot be '{}'", word), std::move(hint)};
}

// "cpu" or "cpu=499".
Result<agent::ProbeRequest> probe_of_word(std::string_view word, std::optional<uint32_t> rate,
                                          std::span<const agent::ProbeKind> kinds) {
  const size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const auto kind = std::ranges::find(kinds, name, &agent::ProbeKind::name);
  if (kind == kinds.end()) {
    const std::vector<std::string> names = names_of(kinds);
    const std::string near = nearest(name, names);
    return bad_event(word, fmt::format("{}use one or more of: {}",
                                       near.empty() ? "" : fmt::format("did you mean {}? ", near),
                                       fmt::join(names, ", ")));
  }
  agent::ProbeRequest request = agent::request_probe(*kind);
  if (equals != std::string_view::npos) {
    if (kind->default_rate == 0)
      return bad_event(word, fmt::format("{} has no sampling rate; use {}", name, name));
    const std::string_view text = word.substr(equals + 1);
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), request.options.rate);
    if (error != std::errc() || end != text.data() + text.size() || request.options.rate < 1 ||
        request.options.rate > kMaxFrequency) {
      return bad_event(
          word, fmt::format("use {}=RATE with a whole number from 1 to {}", name, kMaxFrequency));
    }
  } else if (rate && kind->default_rate != 0) {
    request.options.rate = *rate;
  }
  return request;
}

void limit_rate(agent::ProbeOptions& probe, Console& console) {
  const uint32_t limit = agent::max_sample_rate();
  if (probe.rate <= limit) return;
  console.note(
      fmt::format("sampling at {0} Hz instead of {1}: kernel limit (raise it with sysctl "
                  "kernel.perf_event_max_sample_rate={1})",
                  limit, probe.rate));
  probe.rate = limit;
}

}  // namespace

Result<std::vector<agent::ProbeRequest>> choose_probes(const std::vector<std::string>& words,
                                                       std::optional<uint32_t> rate,
                                                       std::span<const agent::ProbeKind> kinds) {
  std::vector<agent::ProbeRequest> chosen;
  const auto add = [&](std::string_view word) -> Status {
    VESTA_ASSIGN(const agent::ProbeRequest request, probe_of_word(word, rate, kinds));
    if (std::ranges::find(chosen, request.kind, &agent::ProbeRequest::kind) != chosen.end())
      return bad_event(word, fmt::format("{} is given twice", request.kind->name));
    chosen.push_back(request);
    return {};
  };
  for (const std::string& word : words) VESTA_TRY(add(word));
  if (chosen.empty()) VESTA_TRY(add(kinds.front().name));
  if (rate && std::ranges::none_of(chosen, agent::has_clock)) {
    return Error{ErrorCode::kUsage, "--rate applies to none of the chosen events", "remove --rate"};
  }
  return chosen;
}

Flag event_flag() {
  Flag flag{"event", 'e', "KIND[=RATE]",
            "kinds of events to record, one or a list (default: cpu); KIND=RATE sets the sampling "
            "rate of that kind alone"};
  flag.choices = names_of(agent::probe_kinds());
  flag.repeats = true;
  flag.is_list = true;
  return flag;
}

std::vector<Flag> sampling_flags() {
  return {{"rate", 'F', "HZ",
           fmt::format("samples per second and CPU, 1 to {} (default: {}); above {} the summary "
                       "states the cost of sampling",
                       kMaxFrequency, agent::probe_kinds().front().default_rate, kCostlyFrequency)},
          {"no-kernel", 0, "", "drop kernel frames"},
          {"demangle",
           0,
           "STYLE",
           "C++ and Rust names: short (default), full, or off",
           {"short", "full", "off"}},
          {"no-inlines", 0, "", "drop frames of inlined functions"},
          {"clock",
           0,
           "CLOCK",
           "clock that triggers samples: auto (default), cpu-clock or ref-cycles (hardware)",
           {"auto", "cpu-clock", "ref-cycles"}}};
}

Status apply_sampling_flags(const Arguments& arguments, Console& console,
                            agent::RecordingOptions& recording) {
  agent::SamplingOptions& sampling = recording.sampling;
  std::optional<uint32_t> rate;
  if (arguments.has("rate")) {
    VESTA_ASSIGN(const int64_t given, arguments.integer("rate", 0, 1, kMaxFrequency));
    rate = static_cast<uint32_t>(given);
  }
  VESTA_ASSIGN(const std::vector<agent::ProbeRequest> chosen,
               choose_probes(arguments.list("event"), rate));
  agent::ProbePlan plan = agent::plan_probes(chosen);
  sampling.probes = std::move(plan.probes);
  recording.profiles = std::move(plan.profiles);
  uint32_t all_rates = 0;
  for (agent::ProbeRequest& request : sampling.probes) {
    limit_rate(request.options, console);
    all_rates += request.options.rate;
    if (agent::has_clock(request)) request.options.source = arguments.get("clock");
    request.options.kernel_stacks = !arguments.has("no-kernel");
  }
  // More room than a first recording needs: while tables are built, stacks are copied.
  if (all_rates > kHighFrequency) {
    const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
    sampling.ring_bytes =
        2 * agent::ring_bytes_for(all_rates, static_cast<uint32_t>(std::max(cpus, 1L)));
  }
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
