// Which routes are being worked on at the moment, for whoever has to end them. Thread-safe.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/mutex.h"

namespace vesta::server {

class RunningRequests {
 public:
  // Holds one request for as long as it is worked on.
  class Entry {
   public:
    Entry(RunningRequests& all, std::string_view route) : all_(all), route_(route) {
      const MutexLock guard(all_.lock_);
      ++all_.counts_[route_];
    }
    ~Entry() {
      const MutexLock guard(all_.lock_);
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
    const MutexLock guard(lock_);
    std::string out;
    for (const auto& [route, count] : counts_) {
      if (!out.empty()) out += ", ";
      out.append(std::to_string(count)).append(" x ").append(route);
    }
    return out;
  }

 private:
  mutable Mutex lock_;
  std::map<std::string_view, size_t> counts_ GUARDED_BY(lock_);
};

}  // namespace vesta::server
