// Time that threads were blocked in input and output: the waits of off-CPU time that a system call
// made for a device, a peer or a file, with the name of the call as label. Immutable.
#pragma once

#include "agent/probes/probe.h"

namespace vesta::agent {

extern const ProbeView kBlockView;

// "read"; "syscall 999" for one that the table does not have. Of x86-64.
std::string syscall_name(uint64_t number);

}  // namespace vesta::agent
