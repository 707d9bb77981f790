// What an agent gives up once it runs: all capabilities but those it goes on using, the right to
// gain any, and system calls that only somebody who has taken it over would make. For the whole
// process, threads that are there included. Cannot be undone.
#pragma once

#include <array>
#include <span>

#include "agent/kernel/privileges.h"
#include "base/result.h"

namespace vesta::agent {

// What a running agent needs, and what for. The tests show that each is.
inline constexpr std::array kAgentCapabilities = {
    Capability::kBpf,                // unwind tables of new binaries are new maps
    Capability::kPerfmon,            // clocks of CPUs that come online
    Capability::kSysPtrace,          // mappings and files of processes of others
    Capability::kDacReadSearch,      // binaries that only their owner may read
    Capability::kCheckpointRestore,  // /proc/PID/map_files: binaries that were deleted or replaced
    Capability::kSyslog,             // addresses in /proc/kallsyms
    Capability::kSysNice,            // to run before what it measures, after a reload too
};

// Keeps those of `keep` that the process has. Threads that block all signals are in the way: call
// it before they are started. kIo, with the thread, when one could not be reached.
Status reduce_privileges(std::span<const Capability> keep = kAgentCapabilities);

// From now on calls that run programs, attach to processes, load modules, mount, change users,
// namespaces, clocks or keys, or make processes fail with EPERM; the kernel's audit log has each.
// Not fatal on purpose: an agent that dies because a library learnt a new call helps nobody. A list
// of what is denied, not of what is allowed, for the same reason.
// REQUIRES: reduce_privileges() has succeeded.
Status filter_system_calls();

}  // namespace vesta::agent
