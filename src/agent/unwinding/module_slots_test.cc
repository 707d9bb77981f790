#include "agent/unwinding/module_slots.h"

#include <gtest/gtest.h>

namespace vesta::agent {
namespace {

TEST(ModuleSlots, AModuleKeepsItsSlot) {
  ModuleSlots slots(4);
  const uint32_t slot = slots.acquire(ModuleId(7)).slot;
  EXPECT_NE(slot, 0U);  // that is anonymous memory's
  EXPECT_EQ(slots.acquire(ModuleId(7)).slot, slot);
  EXPECT_EQ(slots.find(ModuleId(7)), slot);
  EXPECT_NE(slots.acquire(ModuleId(8)).slot, slot);
}

TEST(ModuleSlots, OnlyUnusedSlotsChangeHands) {
  ModuleSlots slots(3);
  const uint32_t first = slots.acquire(ModuleId(1)).slot;
  slots.acquire(ModuleId(2));
  EXPECT_EQ(slots.acquire(ModuleId(3)).slot, ModuleSlots::kNoSlot);
  slots.release(ModuleId(1));
  const ModuleSlots::Taken taken = slots.acquire(ModuleId(3));
  EXPECT_EQ(taken.slot, first);
  EXPECT_EQ(taken.evicted, ModuleId(1));
  EXPECT_EQ(slots.find(ModuleId(1)), ModuleSlots::kNoSlot);
}

TEST(ModuleSlots, TheLongestUnusedGoesFirst) {
  ModuleSlots slots(4);
  for (size_t id = 1; id <= 3; ++id) slots.acquire(ModuleId(id));
  slots.release(ModuleId(2));
  slots.release(ModuleId(1));
  slots.release(ModuleId(3));
  EXPECT_EQ(slots.acquire(ModuleId(4)).evicted, ModuleId(2));
  // Back in use: its turn is over.
  slots.acquire(ModuleId(1));
  EXPECT_EQ(slots.acquire(ModuleId(5)).evicted, ModuleId(3));
}

TEST(ModuleSlots, ReferencesAreCounted) {
  ModuleSlots slots(2);
  slots.acquire(ModuleId(1));
  slots.acquire(ModuleId(1));
  slots.release(ModuleId(1));
  EXPECT_EQ(slots.acquire(ModuleId(2)).slot, ModuleSlots::kNoSlot);
  slots.release(ModuleId(1));
  slots.release(ModuleId(1));  // once too often is harmless
  EXPECT_NE(slots.acquire(ModuleId(2)).slot, ModuleSlots::kNoSlot);
}

}  // namespace
}  // namespace vesta::agent
