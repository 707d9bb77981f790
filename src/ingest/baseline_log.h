// Which cumulative profiles were kept only to be compared with the next one, so that whoever sent
// them learns that their counters are not stored. Bounded; counts since the server's start. Any
// thread.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/mutex.h"

namespace vesta {

struct Baselines {
  std::string service;
  std::string family;  // of profiles: "memory", "mutex", "block"
  uint64_t count = 0;
  int64_t last_ns = 0;
};

class BaselineLog {
 public:
  // Beyond so many services and families of all tenants, those noted longest ago are forgotten.
  explicit BaselineLog(size_t max_entries = 10'000) : max_entries_(max_entries) {}

  void note(std::string_view tenant, std::string_view service, std::string_view family,
            int64_t time_ns);
  // Of the tenant, those noted last first, `limit` at most.
  std::vector<Baselines> list(std::string_view tenant, size_t limit) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // tenant, service, family
  struct Entry {
    Key key;
    uint64_t count = 0;
    int64_t last_ns = 0;
  };

  const size_t max_entries_;
  mutable Mutex mutex_;
  std::list<Entry> by_use_ GUARDED_BY(mutex_);  // latest first
  std::map<Key, std::list<Entry>::iterator> index_ GUARDED_BY(mutex_);
};

}  // namespace vesta
