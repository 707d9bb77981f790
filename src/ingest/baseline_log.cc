#include "ingest/baseline_log.h"

#include "base/mutex.h"

namespace vesta {

void BaselineLog::note(std::string_view tenant, std::string_view service, std::string_view family,
                       int64_t time_ns) {
  Key key(tenant, service, family);
  const MutexLock lock(mutex_);
  const auto [at, is_new] = index_.try_emplace(key);
  if (is_new) {
    by_use_.push_front({std::move(key)});
  } else {
    by_use_.splice(by_use_.begin(), by_use_, at->second);
  }
  at->second = by_use_.begin();
  ++at->second->count;
  at->second->last_ns = time_ns;
  while (by_use_.size() > max_entries_) {
    index_.erase(by_use_.back().key);
    by_use_.pop_back();
  }
}

std::vector<Baselines> BaselineLog::list(std::string_view tenant, size_t limit) const {
  std::vector<Baselines> out;
  const MutexLock lock(mutex_);
  for (const Entry& entry : by_use_) {
    if (out.size() == limit) break;
    const auto& [owner, service, family] = entry.key;
    if (owner == tenant) out.push_back({service, family, entry.count, entry.last_ns});
  }
  return out;
}

}  // namespace vesta
