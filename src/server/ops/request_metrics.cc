#include "server/ops/request_metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/mutex.h"

namespace vesta::server {

void RequestMetrics::observe(const RequestRecord& record) {
  const double seconds = std::chrono::duration<double>(record.duration).count();
  const size_t bucket =
      static_cast<size_t>(std::ranges::lower_bound(kBounds, seconds) - kBounds.begin());
  Key key{std::string(record.transport), record.route.empty() ? "none" : std::string(record.route)};
  const MutexLock guard(lock_);
  Route& route = routes_[std::move(key)];
  ++route.by_status[record.status];
  ++route.buckets[bucket];
  route.seconds += seconds;
  route.bytes_in += record.bytes_in;
  route.bytes_out += record.bytes_out;
  if (!record.rejected.empty()) ++rejected_[std::string(record.rejected)];
}

void RequestMetrics::write(PrometheusText& text) const {
  const MutexLock guard(lock_);
  text.metric("vesta_requests_total", "counter", "Requests, by route and status.");
  for (const auto& [key, route] : routes_) {
    for (const auto& [status, count] : route.by_status) {
      text.sample(
          {{"transport", key.first}, {"route", key.second}, {"status", fmt::format("{}", status)}},
          static_cast<double>(count));
    }
  }
  text.metric("vesta_request_seconds", "histogram",
              "Time from the head of a request to its answer, in seconds.");
  for (const auto& [key, route] : routes_) {
    uint64_t count = 0;
    for (size_t i = 0; i < route.buckets.size(); ++i) {
      count += route.buckets[i];
      const std::string bound = i < kBounds.size() ? fmt::format("{}", kBounds[i]) : "+Inf";
      text.sample({{"transport", key.first}, {"route", key.second}, {"le", bound}},
                  static_cast<double>(count), "_bucket");
    }
    text.sample({{"transport", key.first}, {"route", key.second}}, route.seconds, "_sum");
    text.sample({{"transport", key.first}, {"route", key.second}}, static_cast<double>(count),
                "_count");
  }
  text.metric("vesta_request_bytes_total", "counter", "Bytes of requests as received.");
  for (const auto& [key, route] : routes_) {
    text.sample({{"transport", key.first}, {"route", key.second}},
                static_cast<double>(route.bytes_in));
  }
  text.metric("vesta_response_bytes_total", "counter", "Bytes of answer bodies.");
  for (const auto& [key, route] : routes_) {
    text.sample({{"transport", key.first}, {"route", key.second}},
                static_cast<double>(route.bytes_out));
  }
  text.metric("vesta_requests_rejected_total", "counter",
              "Requests refused before they reached a handler, by reason.");
  for (const auto& [reason, count] : rejected_) {
    text.sample({{"reason", reason}}, static_cast<double>(count));
  }
}

}  // namespace vesta::server
