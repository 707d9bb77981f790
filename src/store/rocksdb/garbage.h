// Stretches of keys where something was deleted and may still be on the disk. Those of one family
// that begin alike become one. Thread-safe.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "store/rocksdb/database.h"

namespace vesta::rocks {

class Garbage {
 public:
  struct Stretch {
    Family family = Family::kMeta;
    std::string from;
    std::string to;  // not included
  };

  // `together`: how many bytes of the key tell what is kept apart (the tenant, the level).
  void add(Family family, std::string_view from, std::string_view to, size_t together = 4) {
    const MutexLock lock(mutex_);
    const auto [at, is_new] = stretches_.try_emplace(
        {family, std::string(from.substr(0, together))}, std::string(from), std::string(to));
    if (is_new) return;
    at->second.first = std::min<std::string>(at->second.first, std::string(from));
    at->second.second = std::max<std::string>(at->second.second, std::string(to));
  }
  // All there are; none are left.
  std::vector<Stretch> take() {
    const MutexLock lock(mutex_);
    std::vector<Stretch> out;
    for (const auto& [key, bounds] : stretches_)
      out.push_back({key.first, bounds.first, bounds.second});
    stretches_.clear();
    return out;
  }
  size_t size() const {
    const MutexLock lock(mutex_);
    return stretches_.size();
  }

 private:
  mutable Mutex mutex_;
  std::map<std::pair<Family, std::string>, std::pair<std::string, std::string>> stretches_
      GUARDED_BY(mutex_);
};

}  // namespace vesta::rocks
