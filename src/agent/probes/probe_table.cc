#include "agent/probes/probe_table.h"

#include <algorithm>
#include <array>

#include "agent/probes/block/block_view.h"
#include "agent/probes/cpu/cpu_probe.h"
#include "agent/probes/mutex/mutex_view.h"
#include "agent/probes/off_cpu/off_cpu_probe.h"
#include "agent/probes/off_cpu/wait_reason.h"
#include "agent/probes/off_cpu/waker.h"
#include "agent/probes/wall/wall_view.h"

namespace vesta::agent {
namespace {

constexpr std::array<ProbeColumn, 2> kCpuColumns = {{{"samples", "count"}, {"cpu", "nanoseconds"}}};

constexpr std::array<ProbeColumn, 2> kOffCpuColumns = {
    {{"waits", "count"}, {"off_cpu", "nanoseconds"}}};

// In one file with CPU time, "samples" would be the sum of both.
constexpr std::array<ProbeColumn, 2> kWallColumns = {
    {{"wall_samples", "count"}, {"wall", "nanoseconds"}}};

// As Go's runtime has them.
constexpr std::array<ProbeColumn, 2> kBlockColumns = {
    {{"contentions", "count"}, {"delay", "nanoseconds"}}};

// The same waits by other stacks, so the same words with another meaning would not do.
constexpr std::array<ProbeColumn, 2> kMutexHolderColumns = {
    {{"holder_contentions", "count"}, {"holder_delay", "nanoseconds"}}};
constexpr std::array<ProbeColumn, 2> kOffCpuWakerColumns = {
    {{"woken_waits", "count"}, {"woken_time", "nanoseconds"}}};

constexpr std::array<ProbeKind, 7> kKinds = {{
    {"cpu", "CPU", "process_cpu", kCpuColumns, 0, 1, 99, load_cpu_probe},
    {"off-cpu", "Off-CPU", "off_cpu", kOffCpuColumns, 0, 1, 0, load_off_cpu_probe, "wait",
     wait_reason, waking_interrupt},
    {.name = "wall",
     .title = "Wall",
     .profile = "wall",
     .columns = kWallColumns,
     .main_column = 1,
     .default_rate = 99,
     .view = &kWallView},
    {.name = "block",
     .title = "blocking I/O",
     .profile = "block",
     .columns = kBlockColumns,
     .main_column = 1,
     .view = &kBlockView},
    {.name = "mutex",
     .title = "lock contention",
     .profile = "mutex",
     .columns = kBlockColumns,
     .main_column = 1,
     .view = &kMutexView},
    {.name = "mutex-holder",
     .title = "lock contention by holder",
     .profile = "mutex_holder",
     .columns = kMutexHolderColumns,
     .main_column = 1,
     .view = &kMutexHolderView},
    {.name = "off-cpu-waker",
     .title = "Off-CPU, by waker,",
     .profile = "off_cpu_waker",
     .columns = kOffCpuWakerColumns,
     .main_column = 1,
     .view = &kOffCpuWakerView},
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

ProbePlan plan_probes(std::span<const ProbeRequest> requests) {
  ProbePlan plan;
  for (const ProbeRequest& request : requests) {
    if (request.kind->view == nullptr) plan.probes.push_back(request);
  }
  const auto number_of = [&](const ProbeKind* kind) {
    const auto at = std::ranges::find(plan.probes, kind, &ProbeRequest::kind);
    return static_cast<uint32_t>(at - plan.probes.begin());
  };
  for (const ProbeRequest& request : requests) {
    ProfileRequest& profile = plan.profiles.emplace_back();
    profile.kind = request.kind;
    if (request.kind->view == nullptr) {
      profile.probes = {number_of(request.kind)};
      continue;
    }
    for (const std::string_view name : request.kind->view->needs) {
      const ProbeKind* const needed = find_probe(name);
      profile.probes.push_back(number_of(needed));
      if (profile.probes.back() < plan.probes.size()) continue;
      ProbeRequest probe{needed, request.options};
      if (needed->default_rate == 0) probe.options.rate = 0;
      plan.probes.push_back(probe);
    }
  }
  return plan;
}

std::vector<ProfileRequest> profiles_of(std::span<const ProbeRequest> probes) {
  return plan_probes(probes).profiles;
}

}  // namespace vesta::agent
