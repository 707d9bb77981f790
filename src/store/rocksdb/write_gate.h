// Lets many writers in at a time, or one that deletes and nobody else, in the order in which they
// come: who deletes does not wait for ever under steady load, and writers get in between the slices
// of a long deletion. Thread-safe.
#pragma once

#include <cstdint>
#include <utility>

#include "base/mutex.h"

namespace vesta::rocks {

class WriteGate {
 public:
  // Who has one is inside until it goes.
  class Pass {
   public:
    Pass(WriteGate& gate, bool alone) : gate_(&gate), alone_(alone) {}
    Pass(Pass&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)), alone_(other.alone_) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_ != nullptr) gate_->leave(alone_);
    }

   private:
    WriteGate* gate_;
    bool alone_;
  };
  [[nodiscard]] Pass enter() { return take(false); }
  [[nodiscard]] Pass enter_alone() { return take(true); }
  size_t waiting() const {
    const MutexLock lock(mutex_);
    return next_ticket_ - next_in_;
  }

 private:
  Pass take(bool alone) {
    MutexLock lock(mutex_);
    const uint64_t ticket = next_ticket_++;
    changed_.wait(lock, [&]() REQUIRES(mutex_) {
      return ticket == next_in_ && !has_alone_ && (!alone || inside_ == 0);
    });
    ++next_in_;
    has_alone_ = alone;
    if (!alone) ++inside_;
    const bool somebody_waits = next_in_ != next_ticket_;
    lock.unlock();
    if (somebody_waits) changed_.notify_all();
    return {*this, alone};
  }
  void leave(bool alone) {
    {
      const MutexLock lock(mutex_);
      if (alone) {
        has_alone_ = false;
      } else {
        --inside_;
      }
      if (next_in_ == next_ticket_) return;
    }
    changed_.notify_all();
  }

  mutable Mutex mutex_;
  CondVar changed_;
  uint64_t next_ticket_ GUARDED_BY(mutex_) = 0;
  uint64_t next_in_ GUARDED_BY(mutex_) = 0;
  uint64_t inside_ GUARDED_BY(mutex_) = 0;
  bool has_alone_ GUARDED_BY(mutex_) = false;
};

}  // namespace vesta::rocks
