// Where profiles go when the agent has made them. An exporter owns its queue, its connection and
// its thread; take() may be called from any thread, one call at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "profile/profile.h"

namespace vesta::agent {

// Every profile that was taken is in exactly one of sent, queued, rejected, expired.
struct ExporterStats {
  uint64_t taken = 0;  // profiles: one for each process and window
  uint64_t sent = 0;
  uint64_t queued = 0;
  uint64_t queued_bytes = 0;       // on disk
  uint64_t rejected = 0;           // the other side does not want them, whatever is tried
  uint64_t expired = 0;            // too old, or the queue was full: the oldest go
  uint64_t attempts = 0;           // requests
  uint64_t failures = 0;           // requests that will be tried again
  uint32_t failures_in_a_row = 0;  // 0 while the other side answers
  std::map<std::string, uint64_t> lost_by_reason;  // of rejected and expired
  std::string last_error;                          // empty after a success
};

class Exporter {
 public:
  Exporter() = default;
  virtual ~Exporter() = default;
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  virtual const std::string& name() const = 0;
  // The profiles are this exporter's when it returns: sent, or in its queue, from where they go out
  // in order even if the process is killed. On an error they are counted as lost, by reason.
  // `profile.resource` holds OpenTelemetry names: service.name, host.name, process.pid ...
  virtual Status take(const ProfileBatch& batch) = 0;
  virtual ExporterStats stats() const = 0;
  // Sends what is queued without waiting for the upload interval; returns when all is sent, when
  // the other side does not answer, or at the deadline. What is left stays in the queue.
  virtual void flush(std::chrono::steady_clock::time_point deadline) = 0;
};

}  // namespace vesta::agent
