// How many bytes of requests the process holds at once, over all connections. A Lease is a share of
// it, given back when it goes. The budget must outlive its leases. Thread-safe; a lease is not.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace vesta::server {

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
    // False, and nothing changes, when there is not that much left.
    bool resize(uint64_t bytes) {
      if (budget_ == nullptr) return bytes == 0;
      if (bytes > bytes_ && !budget_->take(bytes - bytes_)) return false;
      if (bytes < bytes_) budget_->used_.fetch_sub(bytes_ - bytes, std::memory_order_relaxed);
      bytes_ = bytes;
      return true;
    }

   private:
    MemoryBudget* budget_ = nullptr;
    uint64_t bytes_ = 0;
  };

  uint64_t total() const { return total_; }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  bool take(uint64_t bytes) {
    uint64_t used = used_.load(std::memory_order_relaxed);
    do {
      if (bytes > total_ - used) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }

  const uint64_t total_;
  std::atomic<uint64_t> used_ = 0;
};

}  // namespace vesta::server
