// Senders of OTLP: over HTTP with protobuf, profiles and logs alike, and profiles over gRPC.
// Payloads are an Export…ServiceRequest. See payload.h for threads and ownership.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "agent/config/agent_config.h"
#include "agent/export/codecs/payload.h"
#include "agent/export/queue/export_clock.h"
#include "base/result.h"

namespace vesta::agent {

// How many of what a receiver counts rejections in are in a request: profiles, log records.
using CountUnits = uint64_t (*)(std::string_view message);
uint64_t count_otlp_profiles(std::string_view message);
uint64_t count_otlp_log_records(std::string_view message);

std::unique_ptr<Sender> make_otlp_http_sender(const ExporterConfig& config, const std::string& url,
                                              CountUnits count_units, std::string_view version,
                                              const ExportClock& clock);

// kUsage for an endpoint or certificates that cannot be used.
Result<std::unique_ptr<Sender>> make_otlp_grpc_sender(const ExporterConfig& config,
                                                      std::string_view version);

// What a response says about what was sent. A profile of ours may be several of
// OTLP, or many log records: a share of them counts as the same share of profiles, rounded up.
SendOutcome outcome_of_response(std::string_view response, bool is_json, const Payload& payload,
                                CountUnits count_units);

}  // namespace vesta::agent
