// The probes that there are. Immutable; any thread.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "agent/probes/probe.h"

namespace vesta::agent {

std::span<const ProbeKind> probe_kinds();
// Null when there is none of that name.
const ProbeKind* find_probe(std::string_view name);

// A probe that is wanted, and how.
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

}  // namespace vesta::agent
