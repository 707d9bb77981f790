#include "agent/probes/probe_table.h"

#include <algorithm>
#include <array>

#include "agent/probes/cpu/cpu_probe.h"
#include "agent/probes/off_cpu/off_cpu_probe.h"
#include "agent/probes/off_cpu/wait_reason.h"

namespace vesta::agent {
namespace {

constexpr std::array<ProbeColumn, 2> kCpuColumns = {{{"samples", "count"}, {"cpu", "nanoseconds"}}};

constexpr std::array<ProbeColumn, 2> kOffCpuColumns = {
    {{"waits", "count"}, {"off_cpu", "nanoseconds"}}};

constexpr std::array<ProbeKind, 2> kKinds = {{
    {"cpu", "CPU", "process_cpu", kCpuColumns, 0, 1, 99, load_cpu_probe},
    {"off-cpu", "Off-CPU", "off_cpu", kOffCpuColumns, 0, 1, 0, load_off_cpu_probe, "wait",
     wait_reason},
}};

}  // namespace

std::span<const ProbeKind> probe_kinds() {
  return kKinds;
}

const ProbeKind* find_probe(std::string_view name) {
  const auto* const found = std::ranges::find(kKinds, name, &ProbeKind::name);
  return found == kKinds.end() ? nullptr : found;
}

ProbeRequest request_probe(const ProbeKind& kind) {
  ProbeRequest request{&kind, {}};
  request.options.rate = kind.default_rate;
  return request;
}

std::vector<ProbeRequest> default_probes() {
  return {request_probe(kKinds.front())};
}

}  // namespace vesta::agent
