// What an agent in the same process (`vesta up`) tells about itself, for GET /api/v1/agents. Plain
// data: the server knows no agents, whoever runs both fills it in.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace vesta::server {

struct LocalAgent {
  std::string version;
  uint64_t uptime_s = 0;
  uint32_t rate_hz = 0;  // in force
  uint32_t rate_configured_hz = 0;
  uint64_t processes = 0;
  uint64_t samples = 0;
  std::vector<std::pair<std::string, uint64_t>> losses;    // samples, by reason
  std::vector<std::pair<std::string, uint64_t>> troubles;  // by reason; cost no sample
  struct Exporter {
    std::string name;
    uint64_t sent = 0;
    uint64_t failed = 0;  // will never be sent
    uint64_t queued = 0;
    std::string last_error;
  };
  std::vector<Exporter> exporters;
  uint64_t memory_bytes = 0;  // of the whole process
  double cpu_share = 0;       // of a core, kernel programs included
  double cpu_budget = 0;
  std::vector<std::string> problems;  // in words, for people
};

}  // namespace vesta::server
