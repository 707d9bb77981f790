// Carries resolved samples from the collecting thread to the naming thread, within a bound: naming
// may wait for slow files, collecting may not wait for anything. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "agent/stream/resolved_samples.h"
#include "base/mutex.h"

namespace vesta::agent {

class SampleQueue {
 public:
  static constexpr std::string_view kDropped = "symbolization too slow";

  explicit SampleQueue(uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // When there is no room the samples are dropped, counted, and told of as lost; what comes with
  // them (modules, processes) is not.
  void push(ResolvedSamples samples);
  // Waits, but not longer than that.
  std::optional<ResolvedSamples> pop(std::chrono::milliseconds longest);
  // Closed and empty: nothing comes any more.
  bool is_done() const;
  void close();

  uint64_t dropped() const;
  // When the oldest sample was taken that waits here, or that was popped last and is not done();
  // 0 when there is none.
  uint64_t oldest_ns() const;
  // What was popped last has been dealt with.
  void done();

 private:
  const uint64_t max_bytes_;
  mutable Mutex lock_;
  CondVar wake_;
  std::deque<ResolvedSamples> batches_ GUARDED_BY(lock_);
  uint64_t bytes_ GUARDED_BY(lock_) = 0;
  uint64_t dropped_ GUARDED_BY(lock_) = 0;
  uint64_t popped_ns_ GUARDED_BY(lock_) = 0;  // see oldest_ns()
  bool is_closed_ GUARDED_BY(lock_) = false;
};

}  // namespace vesta::agent
