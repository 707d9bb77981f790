#include "ingest/byte_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/mutex.h"

namespace vesta {
namespace {

constexpr size_t kMaxBuckets = 100'000;

}  // namespace

Status ByteRate::take(std::string_view tenant, uint64_t bytes, uint64_t bytes_per_second,
                      uint64_t burst_bytes, int64_t now_ns) {
  if (bytes_per_second == 0) return {};
  const double rate = static_cast<double>(bytes_per_second);
  const double burst = burst_bytes == 0 ? 10 * rate : static_cast<double>(burst_bytes);
  const MutexLock lock(mutex_);
  auto it = buckets_.find(tenant);
  if (it == buckets_.end()) {
    // Names of tenants may come from outside, in any number; a forgotten bucket is a full one.
    if (buckets_.size() >= kMaxBuckets) buckets_.clear();
    it = buckets_.emplace(std::string(tenant), Bucket{burst, now_ns, 1}).first;
  }
  Bucket& bucket = it->second;
  const double seconds = static_cast<double>(std::max<int64_t>(0, now_ns - bucket.filled_ns)) / 1e9;
  bucket.left = std::min(burst, bucket.left + seconds * rate);
  bucket.filled_ns = std::max(bucket.filled_ns, now_ns);
  const double wanted = static_cast<double>(bytes);
  // What is larger than the burst would never fit: it goes when the bucket is full, on credit.
  if (bucket.left >= std::min(wanted, burst)) {
    bucket.left -= wanted;
    return {};
  }
  const double missing = std::min(wanted, burst) - bucket.left;
  bucket.wait_s = std::clamp<int64_t>(std::llround(std::ceil(missing / rate)), 1, 3600);
  return Error{
      ErrorCode::kTooMany,
      fmt::format("the tenant sends more than {} bytes per second", bytes_per_second),
      fmt::format("send again in {} s, or raise the tenant's bytes_per_second", bucket.wait_s)};
}

int64_t ByteRate::retry_after_s(std::string_view tenant) const {
  const MutexLock lock(mutex_);
  const auto it = buckets_.find(tenant);
  return it == buckets_.end() ? 1 : it->second.wait_s;
}

}  // namespace vesta
