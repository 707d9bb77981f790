// Which CPUs are running now. Pure parser plus one read of sysfs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace vesta::agent {

// "0-3,8,10-11" → {0, 1, 2, 3, 8, 10, 11}. Empty for text that is no list of CPUs.
std::vector<int> parse_cpu_list(std::string_view text);

inline constexpr const char* kOnlineCpus = "/sys/devices/system/cpu/online";

Result<std::vector<int>> online_cpus(const std::string& path = kOnlineCpus);

}  // namespace vesta::agent
