// Carries resolved samples from the collecting thread to the naming thread, within a bound: naming
// may wait for slow files, collecting may not wait for anything. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>

#include "agent/recording/resolved_samples.h"

namespace vesta {

class SampleQueue {
 public:
  static constexpr std::string_view kDropped = "naming too slow";

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
  mutable std::mutex lock_;
  std::condition_variable wake_;
  std::deque<ResolvedSamples> batches_;  // guarded by lock_
  uint64_t bytes_ = 0;                   // guarded by lock_
  uint64_t dropped_ = 0;                 // guarded by lock_
  uint64_t popped_ns_ = 0;               // guarded by lock_; see oldest_ns()
  bool is_closed_ = false;               // guarded by lock_
};

}  // namespace vesta
