// A whole agent: samples the host, says who was sampled, hands windows to exporters, watches
// folders of recordings, and keeps itself within its limits. Made, started, reloaded and stopped by
// one owner thread; what it starts runs on threads of its own.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/config/agent_config.h"
#include "agent/export/exporter.h"
#include "agent/status/agent_metrics.h"
#include "agent/status/watchdog.h"
#include "base/log.h"
#include "base/result.h"

namespace vesta::agent {

// What an agent is given, because it lies outside or is chosen by who starts it.
struct AgentParts {
  std::string state;                   // folder, when the configuration names none
  std::unique_ptr<Exporter> exporter;  // beside those of the configuration; may be null
  std::string version = "unknown";
  std::string cache_folder;  // of unwind tables
  // Further folders that the process writes to while the agent runs.
  std::vector<std::string> folders;
  // All threads of the process are the agent's: their CPU time counts against its budget.
  bool is_alone = true;
};

class AgentApp {
 public:
  // `log` must outlive it.
  AgentApp(AgentConfig config, AgentParts parts, Log& log);
  ~AgentApp();
  AgentApp(const AgentApp&) = delete;
  AgentApp& operator=(const AgentApp&) = delete;

  // Profiles when it returns. kPermission with what is missing, kUnavailable when another agent
  // runs on this host.
  Status start();
  // Takes over what has changed; what cannot change while running is named in the log. No sample is
  // lost. On an error all stays as it was.
  Status reload(AgentConfig config);
  // Hands over the last window, and sends what is queued for at most `grace`; the rest stays in the
  // queues.
  void stop(std::chrono::milliseconds grace);

  AgentStatus status() const;
  // Where /metrics and /healthz are; empty when they are off.
  std::string metrics_address() const;

 private:
  struct Running;
  std::unique_ptr<Running> running_;
};

}  // namespace vesta::agent
