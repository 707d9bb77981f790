// Which of the kernel's capabilities a process has, and words for what is missing. Used by the
// doctor and by every command that loads kernel programs. Pure functions but for reading /proc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace vesta::agent {

// Numbers as in linux/capability.h.
enum class Capability : int {
  kDacOverride = 1,
  kDacReadSearch = 2,
  kSysPtrace = 19,
  kSysAdmin = 21,
  kSysNice = 23,
  kSyslog = 34,
  kPerfmon = 38,
  kBpf = 39,
  kCheckpointRestore = 40,
};

std::string_view name_of(Capability capability);  // "CAP_BPF"

class CapabilitySet {
 public:
  CapabilitySet() = default;
  explicit CapabilitySet(uint64_t bits) : bits_(bits) {}
  // The effective set in the text of /proc/PID/status; nothing when it has none.
  static std::optional<CapabilitySet> from_status(std::string_view status);

  // Or CAP_SYS_ADMIN, where the kernel takes that instead.
  bool has(Capability capability) const;

 private:
  uint64_t bits_ = 0;
};

// Of this process; empty when /proc is not there.
CapabilitySet effective_capabilities();

// What recording needs and the set lacks: "CAP_BPF and CAP_PERFMON"; empty when nothing is missing.
std::string missing_capabilities(const CapabilitySet& set);
std::string missing_capabilities();

// How to grant them to a program: "run it with sudo, or: sudo setcap … /path/of/vesta".
std::string how_to_grant_capabilities();

// "EPERM (Operation not permitted)"
std::string errno_text(int error_number);

// For a kernel call that failed: kPermission when the errno says so, kIo otherwise. Says which
// capability is missing and how to grant it, or what else it may be when none is.
//   permission_error("load the sampling program", EPERM)
Error permission_error(std::string_view what, int error_number, const CapabilitySet& set);
Error permission_error(std::string_view what, int error_number);

}  // namespace vesta::agent
