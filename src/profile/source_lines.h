// Weight per source line of the functions that match: the base of the `list` report. Pure function.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profile/frame_profile.h"
#include "profile/merged_profile.h"

namespace vesta {

struct LineWeight {
  int64_t flat = 0;
  int64_t cum = 0;
};

struct FunctionLines {
  std::string function;
  std::string file;
  int64_t start_line = 0;
  int64_t flat = 0;
  int64_t cum = 0;
  std::map<int64_t, LineWeight> lines;
};

// Functions whose name matches `regex`, largest first by flat, then cum. A line counts once per
// sample however often it recurs.
Result<std::vector<FunctionLines>> source_lines(const MergedProfile& profile,
                                                const FrameFilters& filters,
                                                std::string_view regex);

}  // namespace vesta
