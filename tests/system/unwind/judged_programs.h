// The programs whose stacks the asynchronous oracle looks at. Test code only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vesta::agent {

struct JudgedProgram {
  std::string name;
  std::vector<std::string> arguments;  // empty when this machine does not have it
  // A sample at one of that many ticks: more for programs that do different things over time.
  uint32_t max_ticks = 2;
};

std::vector<JudgedProgram> judged_programs();

}  // namespace vesta::agent
