// From a configuration to a running exporter. Plain function.
#pragma once

#include <memory>
#include <string>

#include "agent/config/agent_config.h"
#include "agent/export/exporter.h"
#include "agent/export/queue/export_clock.h"
#include "base/result.h"
#include "base/time.h"

namespace vesta::agent {

struct ExportEnvironment {
  std::string state;                          // folder; an exporter's queue is in queue/NAME
  std::string version;                        // of this program, for those who receive
  int64_t upload_interval_ns = 10 * kSecond;  // where the exporter has none
  const ExportClock* clock = nullptr;         // the system's; must outlive the exporter
};

// kUsage for what is wrong with the configuration, kIo for folders and files. The other side need
// not be there. What an earlier run left in the queue of that name is sent first.
Result<std::unique_ptr<Exporter>> make_exporter(const ExporterConfig& config,
                                                const ExportEnvironment& environment);

}  // namespace vesta::agent
