// Lets many writers in at a time, or one that deletes and nobody else; who deletes does not wait
// for ever, as with a plain shared mutex under steady load. Thread-safe.
#pragma once

#include <mutex>
#include <shared_mutex>

namespace vesta::rocks {

class WriteGate {
 public:
  std::shared_lock<std::shared_mutex> enter() {
    const std::lock_guard queue(queue_);
    return std::shared_lock(mutex_);
  }
  std::unique_lock<std::shared_mutex> enter_alone() {
    const std::lock_guard queue(queue_);
    return std::unique_lock(mutex_);
  }

 private:
  std::mutex queue_;
  std::shared_mutex mutex_;
};

}  // namespace vesta::rocks
