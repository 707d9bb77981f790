// Compilers at run time that write /tmp/perf-PID.map for profilers (Node, Java, .NET, PHP, with the
// right flag): names for code in memory without a file.
#pragma once

#include <memory>

#include "runtimes/runtime.h"

namespace vesta {

std::unique_ptr<RuntimeInstance> attach_perf_map(const RuntimeProcess& process);

}  // namespace vesta
