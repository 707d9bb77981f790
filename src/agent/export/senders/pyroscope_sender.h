// Senders for servers that speak Pyroscope: push.v1 as Connect over HTTP, and the older `/ingest`.
// See payload.h for threads and ownership.
#pragma once

#include <memory>
#include <string_view>

#include "agent/config/agent_config.h"
#include "agent/export/codecs/payload.h"
#include "agent/export/queue/export_clock.h"

namespace vesta::agent {

std::unique_ptr<Sender> make_push_sender(const ExporterConfig& config, std::string_view version,
                                         const ExportClock& clock);
std::unique_ptr<Sender> make_pyroscope_ingest_sender(const ExporterConfig& config,
                                                     std::string_view version,
                                                     const ExportClock& clock);

}  // namespace vesta::agent
