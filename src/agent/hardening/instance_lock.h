// One agent per host, and one owner per state folder. The host-wide part is a nameable object of
// the kernel that lives exactly as long as its holder: a BPF map, called after the holder's process
// id. Every BPF map can be seen from every namespace, so agents in different containers meet here,
// where a lock file or a socket would show each its own; and nothing is left behind by `kill -9`.
// Needs what sampling needs: CAP_BPF and CAP_PERFMON. Of two that start at once, the older map
// wins.
#pragma once

#include <cstdint>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace vesta::agent {

struct InstanceLockOptions {
  std::string state_folder;  // empty = none to own
  bool whole_host = true;    // not for an agent that only reads files
};

class InstanceLock {
 public:
  // kUnavailable when somebody else holds it; the message has the process id.
  static Result<InstanceLock> take(const InstanceLockOptions& options);

 private:
  InstanceLock() = default;
  Status take_folder(const std::string& folder);
  Status take_host();

  UniqueFd file_;
  UniqueFd map_;
};

}  // namespace vesta::agent
