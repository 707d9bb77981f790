// What one piece of work (a request, a scrape) takes from a budget besides what came in: what is
// unpacked, built and found for it. The thread that does the work has it as its current account, so
// that whatever unpacks or collects finds it, however deep it is called; no account: nothing is
// counted, as on the command line. Thread-safe; the budget must outlive it.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "base/memory_budget.h"
#include "base/result.h"

namespace vesta {

class MemoryAccount {
 public:
  // `held`: what the same work has from that budget already. Null: nothing is counted.
  explicit MemoryAccount(MemoryBudget* budget, uint64_t held = 0,
                         MemoryBudget::HolderPtr holder = {})
      : budget_(budget), held_(held), holder_(std::move(holder)) {}
  ~MemoryAccount() {
    if (budget_ != nullptr) budget_->give(bytes_, holder_.get());
  }
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  // kTooMany, and nothing changes, when others hold too much.
  Status take(uint64_t bytes) {
    if (budget_ == nullptr || budget_->take(bytes, holder_.get())) return taken(bytes);
    return busy();
  }
  // The same, but work that is alone goes on; for what comes after a bound of its own.
  Status take_or_alone(uint64_t bytes) {
    if (budget_ == nullptr || budget_->take_or_alone(bytes, held_ + bytes_, holder_.get()))
      return taken(bytes);
    return busy();
  }
  void give(uint64_t bytes) {
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    if (budget_ != nullptr) budget_->give(bytes, holder_.get());
  }
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  // Of the work that this thread does; null when it has none.
  static MemoryAccount* current() { return slot(); }

  // Makes it the thread's current account until it goes.
  class Scope {
   public:
    explicit Scope(MemoryAccount& account) : before_(std::exchange(slot(), &account)) {}
    ~Scope() { slot() = before_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    MemoryAccount* before_;
  };

 private:
  static MemoryAccount*& slot() {
    thread_local MemoryAccount* current = nullptr;
    return current;
  }
  Status taken(uint64_t bytes) {
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return {};
  }
  static Error busy() {
    return {ErrorCode::kTooMany, "requests in flight exceed the server's memory limit",
            "try again in a moment"};
  }

  MemoryBudget* const budget_;
  const uint64_t held_;
  const MemoryBudget::HolderPtr holder_;
  std::atomic<uint64_t> bytes_ = 0;
};

// A part of the thread's current account, given back when it goes; of no account, nothing. Must not
// outlive the account.
class MemoryCharge {
 public:
  MemoryCharge() : account_(MemoryAccount::current()) {}
  ~MemoryCharge() { reset(); }
  MemoryCharge(MemoryCharge&& other) noexcept
      : account_(other.account_), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    std::swap(account_, other.account_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  uint64_t bytes() const { return bytes_; }
  // kTooMany, and nothing changes, when there is not that much left.
  Status resize(uint64_t bytes) {
    if (account_ == nullptr) return {};
    if (bytes > bytes_) VESTA_TRY(account_->take(bytes - bytes_));
    if (bytes < bytes_) account_->give(bytes_ - bytes);
    bytes_ = bytes;
    return {};
  }
  // See MemoryAccount::take_or_alone().
  Status add_or_alone(uint64_t bytes) {
    if (account_ == nullptr) return {};
    VESTA_TRY(account_->take_or_alone(bytes));
    bytes_ += bytes;
    return {};
  }
  void reset() {
    if (account_ != nullptr) account_->give(std::exchange(bytes_, 0));
  }
  // Stays with the account until its end.
  void leave() { bytes_ = 0; }

 private:
  MemoryAccount* account_;
  uint64_t bytes_ = 0;
};

}  // namespace vesta
