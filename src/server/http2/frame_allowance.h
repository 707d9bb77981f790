// How many frames a client may send that cost it little and us something, without asking for
// anything: resets, pings, settings, window updates, empty data. A bucket that fills with time, and
// with what we send, as clients acknowledge that. Not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace vesta::server {

class FrameAllowance {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr int64_t kBurst = 4000;
  static constexpr int64_t kPerSecond = 400;
  // A stream that is opened and reset costs us a request.
  static constexpr int64_t kReset = 10;
  static constexpr int64_t kFrame = 1;
  // A client that reads sends two window updates for each frame of data.
  static constexpr int64_t kForSentData = 2;

  explicit FrameAllowance(Time now) : filled_(now) {}

  // False when the client has used up what it may.
  bool take(int64_t cost, Time now) {
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now - filled_);
    const int64_t more = std::min<int64_t>(passed.count(), 3'600'000) * kPerSecond / 1000;
    if (more > 0) {
      left_ = std::min(kBurst, left_ + more);
      filled_ = now;
    }
    left_ -= cost;
    return left_ >= 0;
  }
  void give(int64_t amount) { left_ = std::min(kBurst, left_ + amount); }

 private:
  Time filled_;
  int64_t left_ = kBurst;
};

}  // namespace vesta::server
