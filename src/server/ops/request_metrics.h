// Counts and times of requests by route, for /metrics. As many entries as there are routes,
// whatever clients ask for. Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/prometheus_text.h"
#include "server/rpc/dispatcher.h"

namespace vesta::server {

class RequestMetrics {
 public:
  void observe(const RequestRecord& record);
  void write(PrometheusText& text) const;

 private:
  // Seconds; the last bucket is for everything above.
  static constexpr std::array<double, 14> kBounds = {
      0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
  struct Route {
    std::map<int, uint64_t> by_status;
    std::array<uint64_t, kBounds.size() + 1> buckets{};
    double seconds = 0;
    uint64_t bytes_in = 0;
    uint64_t bytes_out = 0;
  };
  using Key = std::pair<std::string, std::string>;  // transport, route

  mutable Mutex lock_;
  std::map<Key, Route> routes_ GUARDED_BY(lock_);
  std::map<std::string, uint64_t, std::less<>> rejected_ GUARDED_BY(lock_);
};

}  // namespace vesta::server
