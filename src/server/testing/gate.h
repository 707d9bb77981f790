// A handler that a test holds open until it lets it go. Thread-safe. Test code only.
#pragma once

#include <condition_variable>
#include <mutex>

namespace vesta::server::testing {

class Gate {
 public:
  void wait() {
    std::unique_lock guard(lock_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(guard, [this] { return open_; });
  }
  void open() {
    const std::lock_guard guard(lock_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_for_visitors(int count) {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [&] { return waiting_ >= count; });
  }

  int visitors() {
    const std::lock_guard guard(lock_);
    return waiting_;
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;
};

}  // namespace vesta::server::testing
