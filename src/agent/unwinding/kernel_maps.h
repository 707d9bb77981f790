// The maps that the kernel-side unwinder reads: tables of modules, and who has which module mapped
// where. Writes through file descriptors of a loaded program, which must outlive this. One owner
// thread each for processes and for tables; the two may differ.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <shared/unwind_table.h>
#include "agent/kernel/kernel_session.h"
#include "base/file.h"
#include "base/result.h"
#include "unwind/unwind_table.h"

namespace vesta::agent {

// Mappings of processes.
class KernelProcessMap {
 public:
  explicit KernelProcessMap(const KernelMapFds& fds) : fds_(fds) {}

  // REQUIRES: sorted by start, not overlapping. What is beyond VESTA_MAX_MAPPINGS is left out:
  // stacks that need it are finished in user space. kLimit when the map is full.
  Status put(uint32_t pid, std::span<const vesta_mapping> mappings) const;
  void drop(uint32_t pid, size_t mapping_count) const;
  // Of a process that had `old_count` mappings and has `count` now: what the new ones do not use.
  void drop_leaves(uint32_t pid, size_t count, size_t old_count) const;

 private:
  KernelMapFds fds_;
};

// Tables of modules, by slot.
class KernelTableMap {
 public:
  explicit KernelTableMap(const KernelMapFds& fds) : fds_(fds) {}

  struct Entry {
    uint32_t slot = 0;
    const UnwindTable* table = nullptr;
  };
  // All of them with one update of the outer map, which makes the kernel wait for a grace period
  // (13 ms).
  Status put(std::span<const Entry> entries) const;
  // The module has no table: frame pointers only.
  Status put_without_table(uint32_t slot) const;
  // Nobody finds the table in this slot any more. Quick, and safe from any thread.
  void mark_absent(uint32_t slot) const;
  // The same, and its memory is freed; waits for a grace period.
  void drop(uint32_t slot) const;

 private:
  KernelMapFds fds_;
};

}  // namespace vesta::agent
