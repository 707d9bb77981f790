// A handler that a test holds open until it lets it go. Thread-safe. Test code only.
#pragma once

#include "base/mutex.h"

namespace vesta::server::testing {

class Gate {
 public:
  void wait() {
    MutexLock guard(lock_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(guard, [this]() REQUIRES(lock_) { return open_; });
  }
  void open() {
    const MutexLock guard(lock_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_for_visitors(int count) {
    MutexLock guard(lock_);
    changed_.wait(guard, [&]() REQUIRES(lock_) { return waiting_ >= count; });
  }

  int visitors() {
    const MutexLock guard(lock_);
    return waiting_;
  }

 private:
  Mutex lock_;
  CondVar changed_;
  bool open_ GUARDED_BY(lock_) = false;
  int waiting_ GUARDED_BY(lock_) = 0;
};

}  // namespace vesta::server::testing
