// What a query has taken so far, held against its budget, and against that of all queries by the
// account of the thread that began it: until the account's end, because answers outlive the query.
// One per query; its threads share it.
#pragma once

#include <atomic>

#include "base/memory_account.h"
#include "store/engine.h"

namespace vesta {

class QueryCost {
 public:
  explicit QueryCost(const QueryBudget& budget)
      : budget_(budget), account_(MemoryAccount::current()) {}

  // kLimit when that is too much, or when the time is over; kTooMany when others hold the memory.
  Status add(uint64_t bytes) {
    if (used_.fetch_add(bytes) + bytes > budget_.bytes) {
      return Error{ErrorCode::kLimit, "the query exceeds its memory limit",
                   "narrow the selector or the time range, or group by fewer labels"};
    }
    if (account_ != nullptr && bytes != 0) VESTA_TRY(account_->take_or_alone(bytes));
    return check_time();
  }
  // The same for every step of a long walk: looks at the clock now and then.
  Status step() {
    return steps_.fetch_add(1, std::memory_order_relaxed) % 64 == 63 ? check_time() : Status();
  }

 private:
  Status check_time() const {
    if (std::chrono::steady_clock::now() < budget_.deadline) return {};
    return Error{ErrorCode::kLimit, "the query exceeds its time limit",
                 "narrow the selector or the time range"};
  }

  QueryBudget budget_;
  MemoryAccount* account_;  // null: none
  std::atomic<uint64_t> used_ = 0;
  std::atomic<uint64_t> steps_ = 0;
};

}  // namespace vesta
