// What a query has taken so far, held against its budget. One per query, not shared.
#pragma once

#include "store/engine.h"

namespace vesta {

class QueryCost {
 public:
  explicit QueryCost(const QueryBudget& budget) : budget_(budget) {}

  // kLimit when that is too much, or when the time is over.
  Status add(uint64_t bytes) {
    used_ += bytes;
    if (used_ > budget_.bytes) {
      return Error{ErrorCode::kLimit, "the answer takes more memory than a query may",
                   "narrow the selector or the time range, or group by fewer labels"};
    }
    return check_time();
  }
  // The same for every step of a long walk: looks at the clock now and then.
  Status step() { return ++steps_ % 64 == 0 ? check_time() : Status(); }

 private:
  Status check_time() const {
    if (std::chrono::steady_clock::now() < budget_.deadline) return {};
    return Error{ErrorCode::kLimit, "the query takes longer than it may",
                 "narrow the selector or the time range"};
  }

  QueryBudget budget_;
  uint64_t used_ = 0;
  uint64_t steps_ = 0;
};

}  // namespace vesta
