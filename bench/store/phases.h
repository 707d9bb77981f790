// What the benchmark measures, one phase per process: a fresh process is what "cold", "memory" and
// "start" mean. A phase prints its figures as lines "name value". Each has its own arguments, which
// come as text from the process that started it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vesta::bench {

// All profiles of the fleet start here: 2024-01-01, at the start of a month.
inline constexpr int64_t kFleetStartNs = 1'704'067'200'000'000'000;

// Returns the exit code. An unknown name is a usage error.
int run_phase(const std::string& name, const std::vector<std::string>& arguments);

}  // namespace vesta::bench
