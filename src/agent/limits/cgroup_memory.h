// The memory that the agent's own cgroup allows it, of version 1 or 2, and what of it is in use.
// Reads small files of the kernel; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace vesta::agent {

struct CgroupMemoryOptions {
  std::string proc_self = "/proc/self";
  std::string cgroup_root = "/sys/fs/cgroup";
};

class CgroupMemory {
 public:
  // The tightest limit of the own cgroup and of all around it; nothing when there is none.
  static std::optional<CgroupMemory> find(const CgroupMemoryOptions& options = {});

  uint64_t limit_bytes() const { return limit_bytes_; }
  // What the kernel cannot take back: all in use by everyone in that cgroup, without files that are
  // only cached. 0 when it cannot be read.
  uint64_t unreclaimable_bytes() const;

 private:
  std::string folder_;  // of the tightest limit
  bool is_version_2_ = false;
  uint64_t limit_bytes_ = 0;
};

// What an agent may use of a cgroup's limit: the rest is for the kernel's side (maps, rings, pages
// of files) and for moments in which a table is read.
uint64_t memory_within(uint64_t cgroup_limit_bytes);

// With less an agent cannot live: it would be killed without a word. kLimit with what to do.
Status check_cgroup_limit(uint64_t cgroup_limit_bytes, uint32_t cpus);

}  // namespace vesta::agent
