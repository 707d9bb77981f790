// Who sends profiles, host by host, and how good they are: from what is stored. Asks the engine a
// few times per type and per handful of hosts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/engine.h"

namespace vesta {

// How good the CPU profiles of a host are.
struct AgentCoverage {
  int64_t total = 0;
  double named = 1;  // shares of the weight, as in coverage.h
  double complete = 1;
  double rate_hz = 0;  // the lowest in the range; 0 = not known
  std::vector<LossCount> losses;
};

struct AgentRow {
  std::string host;   // empty: profiles that do not say where they are from
  std::string agent;  // what sent them, where a label says so
  uint64_t services = 0;
  std::vector<std::string> types;  // selector_word()
  uint64_t profiles = 0;
  int64_t last_ns = 0;
  // None when there is no CPU profile, or when it would take more than the budget to find out.
  std::optional<AgentCoverage> coverage;
};

struct AgentOverview {
  std::vector<AgentRow> agents;  // by host
  uint64_t cut_agents = 0;
};

// At most `most` hosts: those that sent something last.
Result<AgentOverview> agent_overview(Engine& engine, std::string_view tenant, TimeRange range,
                                     size_t most, const QueryBudget& budget);

}  // namespace vesta
