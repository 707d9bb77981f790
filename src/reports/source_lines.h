// Lines of source with the weight that each has: of functions, which `list` prints, and of one file,
// which stand beside its text. Tables of functions add them up. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/frame_profile.h"
#include "profile/merged_profile.h"
#include "reports/function_table.h"

namespace vesta {

struct LineWeight {
  int64_t flat = 0;  // of stacks that end there
  int64_t cum = 0;   // of stacks that go through it; each counts once
  friend bool operator==(const LineWeight&, const LineWeight&) = default;
};
using LineWeights = std::map<int64_t, LineWeight>;  // 0: the line is not known

struct FunctionLines {
  std::string function;
  std::string file;
  int64_t start_line = 0;
  int64_t flat = 0;
  int64_t cum = 0;
  LineWeights lines;
  friend bool operator==(const FunctionLines&, const FunctionLines&) = default;
};

// Functions whose name matches `regex`, largest first by flat, then cum.
Result<std::vector<FunctionLines>> source_lines(const MergedProfile& profile,
                                                const FrameFilters& filters,
                                                std::string_view regex);
Result<std::vector<FunctionLines>> source_lines(const Selection& selection, TreeOptions options,
                                                std::string_view regex);

// Of one file; none when no frame is in it. `function` is the name of one as tables show it; empty
// = of all of them.
// REQUIRES: the tree is grouped by line
std::optional<LineWeights> line_weights(FlameTree tree, std::string_view file,
                                        std::string_view function);

}  // namespace vesta
