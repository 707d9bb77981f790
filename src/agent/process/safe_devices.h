// Which devices have files that may be opened: not those that a process serves (FUSE), which could
// keep us waiting for ever. Remembers its answers for some seconds, no longer: numbers are used
// again after unmounting. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace vesta::agent {

class SafeDevices {
 public:
  explicit SafeDevices(std::string proc_root) : proc_root_(std::move(proc_root)) {}

  // By the mounts that a process sees, and those that we see.
  bool is_safe(uint32_t pid, uint64_t device);

 private:
  const std::string proc_root_;
  std::unordered_map<uint64_t, bool> known_;
  int64_t known_until_s_ = 0;
};

}  // namespace vesta::agent
