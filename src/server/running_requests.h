// Which routes are being worked on at the moment, for whoever has to end them. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace vesta::server {

class RunningRequests {
 public:
  // Holds one request for as long as it is worked on.
  class Entry {
   public:
    Entry(RunningRequests& all, std::string_view route) : all_(all), route_(route) {
      const std::lock_guard guard(all_.lock_);
      ++all_.counts_[route_];
    }
    ~Entry() {
      const std::lock_guard guard(all_.lock_);
      const auto found = all_.counts_.find(route_);
      if (--found->second == 0) all_.counts_.erase(found);
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    RunningRequests& all_;
    std::string_view route_;  // of the table of routes, which outlives the request
  };

  // "2 x /api/v1/top, 1 x /ingest"; empty when there are none.
  std::string text() const {
    const std::lock_guard guard(lock_);
    std::string out;
    for (const auto& [route, count] : counts_) {
      if (!out.empty()) out += ", ";
      out.append(std::to_string(count)).append(" x ").append(route);
    }
    return out;
  }

 private:
  mutable std::mutex lock_;
  std::map<std::string_view, size_t> counts_;  // guarded by lock_
};

}  // namespace vesta::server
