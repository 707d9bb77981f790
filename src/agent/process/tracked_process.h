// What ProcessTable keeps of a process besides what it tells: its address spaces over time, and
// when to look at /proc again. Private to process_table*.cc. Owned by the table; not thread-safe.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "agent/process/process_table.h"

namespace vesta::agent {

// An address space: what a process has from fork or exec until the next exec. Forked processes
// share one until either side changes it.
struct ProcessTable::Space {
  uint64_t start_ns = 0;
  std::shared_ptr<MappingHistory> mappings;
};

struct ProcessTable::Tracked : Process {
  std::vector<Space> spaces;  // oldest first, never empty; the last is the current one
  uint64_t known_ns = 0;      // when it was first heard of
  uint64_t start_ticks = 0;   // of /proc/PID/stat; 0 when not read
  uint32_t threads = 0;
  bool is_leader_gone = false;
  bool is_read = false;      // mappings are known, from events or from /proc
  bool has_details = false;  // user, cgroup, root are those of the current program
  bool has_exe = true;       // false between exec and its first mapping
  bool is_changed = false;   // is in ProcessTable::changed_
  uint32_t loss_generation = 0;
  uint64_t version = 0;
  uint64_t next_rescan_ns = 0;
  uint64_t rescan_interval_ns = 0;

  const Space* space_at(uint64_t time_ns) const {
    for (size_t i = spaces.size(); i-- > 0;) {
      if (spaces[i].start_ns <= time_ns) return &spaces[i];
    }
    return nullptr;
  }

  // Forgets address spaces that ended before a time, and the oldest of too many.
  void drop_spaces(uint64_t before_ns, size_t max) {
    size_t drop = spaces.size() > max ? spaces.size() - max : 0;
    while (drop + 1 < spaces.size() && spaces[drop + 1].start_ns < before_ns) ++drop;
    spaces.erase(spaces.begin(), spaces.begin() + static_cast<ptrdiff_t>(drop));
  }
};

// The processes that had one id, one after the other.
struct ProcessTable::Slot {
  std::unique_ptr<Tracked> latest;
  std::vector<std::unique_ptr<Tracked>> older;  // ended not long ago
};

}  // namespace vesta::agent
