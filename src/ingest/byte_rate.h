// A budget of bytes per second for each tenant, with a burst. Owns a bucket per tenant that sent
// something; any thread may ask.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"

namespace vesta {

class ByteRate {
 public:
  // Takes `bytes` out of the tenant's budget, or says kTooMany and when to try again. One request
  // may be larger than the burst: it is let pass with a full budget, and those after it wait.
  // `bytes_per_second` 0 = no bound.
  Status take(std::string_view tenant, uint64_t bytes, uint64_t bytes_per_second,
              uint64_t burst_bytes, int64_t now_ns);

  // Seconds until the budget is not overdrawn any more, 1 at least.
  int64_t retry_after_s(std::string_view tenant) const;

 private:
  struct Bucket {
    double left = 0;
    int64_t filled_ns = 0;
    int64_t wait_s = 1;
  };
  mutable Mutex mutex_;
  std::map<std::string, Bucket, std::less<>> buckets_ GUARDED_BY(mutex_);
};

}  // namespace vesta
