// The probes and views that there are, and what has to run for those that are wanted. Immutable; any
// thread.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "agent/probes/probe.h"

namespace vesta::agent {

std::span<const ProbeKind> probe_kinds();
// Null when there is none of that name.
const ProbeKind* find_probe(std::string_view name);

// A probe or a view that is wanted, and how.
struct ProbeRequest {
  const ProbeKind* kind = nullptr;
  ProbeOptions options;
};
// Its rate can be changed.
inline bool has_clock(const ProbeRequest& probe) {
  return probe.kind->default_rate != 0;
}
// At its default rate.
ProbeRequest request_probe(const ProbeKind& kind);

// What is sampled when nobody says otherwise.
std::vector<ProbeRequest> default_probes();

// A profile that is to be made.
struct ProfileRequest {
  const ProbeKind* kind = nullptr;
  std::vector<uint32_t> probes;  // numbers of those whose events it is made of
};
struct ProbePlan {
  std::vector<ProbeRequest> probes;      // each kind once, and no views
  std::vector<ProfileRequest> profiles;  // in the order of the requests
};
// What views need runs once, whoever else wants it, and makes no profile unless it was asked for
// itself; then it runs as that request says, else as the first view's.
ProbePlan plan_probes(std::span<const ProbeRequest> requests);
// One for each.
std::vector<ProfileRequest> profiles_of(std::span<const ProbeRequest> probes);

}  // namespace vesta::agent
