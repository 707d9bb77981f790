// Lines of one source file, with the weight that each has: what stands beside its text. Pure
// function.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "query/flame_tree.h"

namespace vesta {

struct SourceLine {
  int64_t line = 0;   // 0: the file is known, the line is not
  int64_t self = 0;   // of stacks that end there
  int64_t total = 0;  // of stacks that go through it; each counts once
  friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

// In order of lines. None when no frame is in the file. `function` is the name of one as tables
// show it; empty = of all of them.
// REQUIRES: the tree is grouped by line
std::optional<std::vector<SourceLine>> line_weights(const FlameTree& tree, std::string_view file,
                                                    std::string_view function);

}  // namespace vesta
