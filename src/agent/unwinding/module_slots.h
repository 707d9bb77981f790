// Which module has which slot in the kernel's maps of tables. A slot that mappings in the kernel
// refer to stays with its module; others go to whoever needs one, least recently used first. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

#include "agent/process/module_registry.h"

namespace vesta::agent {

class ModuleSlots {
 public:
  // Slots 1 to `count` - 1; 0 is VESTA_MODULE_ANONYMOUS. No slot: stacks through the module are
  // finished in user space.
  static constexpr uint32_t kNoSlot = UINT32_MAX;
  explicit ModuleSlots(uint32_t count);

  struct Taken {
    uint32_t slot = kNoSlot;
    ModuleId evicted;  // whose slot it was until now; 0 for nobody's
  };
  // The module's slot, new or old, with one more reference on it.
  Taken acquire(ModuleId module);
  void release(ModuleId module);
  // kNoSlot when the module has none. Adds no reference.
  uint32_t find(ModuleId module) const;
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    uint32_t slot = kNoSlot;
    uint32_t references = 0;
    std::list<ModuleId>::iterator idle;  // in idle_ while references == 0
  };
  uint32_t next_ = 1;
  uint32_t count_;
  std::unordered_map<ModuleId, Entry> entries_;
  std::list<ModuleId> idle_;  // least recently used first
};

}  // namespace vesta::agent
