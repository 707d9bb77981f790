// How many bytes the process holds at once for work of one kind, such as requests. A Lease is a
// share of it, given back when it goes. The budget must outlive its leases. Thread-safe; a lease is
// not.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace vesta {

class MemoryBudget {
 public:
  explicit MemoryBudget(uint64_t bytes) : total_(bytes) {}

  class Lease {
   public:
    Lease() = default;
    explicit Lease(MemoryBudget& budget) : budget_(&budget) {}
    ~Lease() { resize(0); }
    Lease(Lease&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Lease& operator=(Lease&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }

    uint64_t bytes() const { return bytes_; }
    MemoryBudget* budget() const { return budget_; }
    // False, and nothing changes, when there is not that much left.
    bool resize(uint64_t bytes) {
      if (budget_ == nullptr) return bytes == 0;
      if (bytes > bytes_ && !budget_->take(bytes - bytes_)) return false;
      if (bytes < bytes_) budget_->give(bytes_ - bytes);
      bytes_ = bytes;
      return true;
    }

   private:
    MemoryBudget* budget_ = nullptr;
    uint64_t bytes_ = 0;
  };

  // False, and nothing changes, when there is not that much left.
  bool take(uint64_t bytes) {
    uint64_t used = used_.load(std::memory_order_relaxed);
    do {
      if (used > total_ || bytes > total_ - used) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  // The same, but who holds all that is used gets more than there is: one piece of work that is
  // larger than the budget is done, alone, instead of never.
  bool take_or_alone(uint64_t bytes, uint64_t held) {
    if (take(bytes)) return true;
    uint64_t used = held;
    return used_.compare_exchange_strong(used, used + bytes, std::memory_order_relaxed);
  }
  void give(uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  uint64_t total() const { return total_; }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  const uint64_t total_;
  std::atomic<uint64_t> used_ = 0;
};

}  // namespace vesta
