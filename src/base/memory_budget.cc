#include "base/memory_budget.h"

#include "base/mutex.h"

namespace vesta {

MemoryBudget::HolderPtr MemoryBudget::holder(std::string_view name) {
  if (reserve_ == 0) return nullptr;
  const MutexLock guard(lock_);
  if (holders_.size() >= clean_at_) {
    std::erase_if(holders_, [](const auto& entry) { return entry.second.expired(); });
    clean_at_ = std::max(kFewHolders, holders_.size() * 2);
  }
  std::weak_ptr<Holder>& known = holders_[std::string(name)];
  HolderPtr found = known.lock();
  if (found == nullptr) known = found = std::make_shared<Holder>();
  return found;
}

size_t MemoryBudget::remembered() const {
  const MutexLock guard(lock_);
  return holders_.size();
}

}  // namespace vesta
