#include "cli/roles/local_agent.h"

#include "base/mutex.h"

namespace vesta::cli {

server::LocalAgent describe_agent(const agent::AgentStatus& status) {
  server::LocalAgent out;
  out.version = status.version;
  out.uptime_s = status.uptime_ns / 1'000'000'000;
  out.rate_hz = status.rate;
  out.rate_configured_hz = status.configured_rate;
  out.processes = status.processes;
  out.samples = status.samples;
  out.losses.assign(status.lost.begin(), status.lost.end());
  out.troubles.assign(status.troubles.begin(), status.troubles.end());
  for (const agent::ExporterStatus& exporter : status.exporters) {
    const agent::ExporterStats& stats = exporter.stats;
    out.exporters.push_back({exporter.name, stats.sent, stats.rejected + stats.expired,
                             stats.queued, stats.last_error});
  }
  out.memory_bytes = status.resident_bytes;
  out.cpu_share = status.cpu_share;
  out.cpu_budget = status.cpu_budget;
  out.problems = status.problems;
  out.problems.insert(out.problems.end(), status.warnings.begin(), status.warnings.end());
  return out;
}

void RunningAgent::set(const agent::AgentApp* agent) {
  const MutexLock guard(mutex_);
  agent_ = agent;
}

std::optional<server::LocalAgent> RunningAgent::describe() const {
  const MutexLock guard(mutex_);
  if (agent_ == nullptr) return std::nullopt;
  return describe_agent(agent_->status());
}

}  // namespace vesta::cli
