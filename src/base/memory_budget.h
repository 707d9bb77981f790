// How many bytes the process holds at once for work of one kind, such as requests. A Lease is a
// part of it, given back when it goes. The budget must outlive its leases. Thread-safe; a lease is
// not.
//
// Leases may name a Holder, such as a tenant. A part of the budget is then kept for holders that
// have little, so that none of them can take all of it and have the others refused.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "base/table_hash.h"

namespace vesta {

class MemoryBudget {
 public:
  // The last `reserve` bytes are for holders that have no more than half of that.
  explicit MemoryBudget(uint64_t bytes, uint64_t reserve = 0)
      : total_(bytes), reserve_(std::min(reserve, bytes)) {}

  // What one tenant has in all its leases together.
  class Holder {
   public:
    uint64_t used() const { return used_.load(std::memory_order_relaxed); }

   private:
    friend class MemoryBudget;
    std::atomic<uint64_t> used_ = 0;
  };
  using HolderPtr = std::shared_ptr<Holder>;
  // The one of that name; null when nothing is reserved.
  HolderPtr holder(std::string_view name);
  // How many names are remembered; those that hold nothing are forgotten now and then.
  size_t remembered() const;

  class Lease {
   public:
    Lease() = default;
    explicit Lease(MemoryBudget& budget, HolderPtr holder = {})
        : budget_(&budget), holder_(std::move(holder)) {}
    ~Lease() { resize(0); }
    Lease(Lease&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)),
          holder_(std::move(other.holder_)),
          bytes_(std::exchange(other.bytes_, 0)) {}
    Lease& operator=(Lease&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(holder_, other.holder_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }

    uint64_t bytes() const { return bytes_; }
    MemoryBudget* budget() const { return budget_; }
    const HolderPtr& holder() const { return holder_; }
    // From now on it counts as that holder's, with what it has already.
    void assign(HolderPtr holder) {
      if (holder_ != nullptr) holder_->used_ -= bytes_;
      holder_ = std::move(holder);
      if (holder_ != nullptr) holder_->used_ += bytes_;
    }
    // False, and nothing changes, when there is not that much left.
    bool resize(uint64_t bytes) {
      if (budget_ == nullptr) return bytes == 0;
      if (bytes > bytes_ && !budget_->take(bytes - bytes_, holder_.get())) return false;
      if (bytes < bytes_) budget_->give(bytes_ - bytes, holder_.get());
      bytes_ = bytes;
      return true;
    }

   private:
    MemoryBudget* budget_ = nullptr;
    HolderPtr holder_;
    uint64_t bytes_ = 0;
  };

  // False, and nothing changes, when there is not that much left for that holder.
  bool take(uint64_t bytes, Holder* holder = nullptr) {
    uint64_t used = used_.load(std::memory_order_relaxed);
    do {
      if (used > total_ || bytes > total_ - used) return false;
      const bool from_reserve = used + bytes > total_ - reserve_;
      if (from_reserve && holder != nullptr && holder->used() + bytes > reserve_ / 2) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    if (holder != nullptr) holder->used_ += bytes;
    return true;
  }
  // The same, but who holds all that is used gets more than there is: one piece of work that is
  // larger than the budget is done, alone, instead of never.
  bool take_or_alone(uint64_t bytes, uint64_t held, Holder* holder = nullptr) {
    if (take(bytes, holder)) return true;
    uint64_t used = held;
    if (!used_.compare_exchange_strong(used, used + bytes, std::memory_order_relaxed)) return false;
    if (holder != nullptr) holder->used_ += bytes;
    return true;
  }
  void give(uint64_t bytes, Holder* holder = nullptr) {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    if (holder != nullptr) holder->used_ -= bytes;
  }

  uint64_t total() const { return total_; }
  // What one holder can have at most.
  uint64_t most_for_one() const { return total_ - reserve_; }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kFewHolders = 64;

  const uint64_t total_;
  const uint64_t reserve_;
  std::atomic<uint64_t> used_ = 0;
  mutable Mutex lock_;
  std::unordered_map<std::string, std::weak_ptr<Holder>, TableKeyHash> holders_ GUARDED_BY(lock_);
  size_t clean_at_ GUARDED_BY(lock_) =
      kFewHolders;  // so many names: time to forget those that hold nothing
};

}  // namespace vesta
