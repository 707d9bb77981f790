#include "agent/unwinding/module_slots.h"

namespace vesta::agent {

ModuleSlots::ModuleSlots(uint32_t count) : count_(count) {}

ModuleSlots::Taken ModuleSlots::acquire(ModuleId module) {
  const auto found = entries_.find(module);
  if (found != entries_.end()) {
    Entry& entry = found->second;
    if (entry.references++ == 0) idle_.erase(entry.idle);
    return {entry.slot, {}};
  }
  Taken taken;
  if (next_ < count_) {
    taken.slot = next_++;
  } else if (!idle_.empty()) {
    taken.evicted = idle_.front();
    idle_.pop_front();
    taken.slot = entries_.at(taken.evicted).slot;
    entries_.erase(taken.evicted);
  } else {
    return taken;
  }
  entries_[module] = {taken.slot, 1, {}};
  return taken;
}

void ModuleSlots::release(ModuleId module) {
  const auto found = entries_.find(module);
  if (found == entries_.end() || found->second.references == 0) return;
  if (--found->second.references == 0) found->second.idle = idle_.insert(idle_.end(), module);
}

uint32_t ModuleSlots::find(ModuleId module) const {
  const auto found = entries_.find(module);
  return found == entries_.end() ? kNoSlot : found->second.slot;
}

}  // namespace vesta::agent
