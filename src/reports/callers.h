// One function seen from both sides: who calls it, and what it calls. Pure functions of a tree; a
// recursive function counts once.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "reports/selection_tree.h"

namespace vesta {

struct CallWeight {
  uint32_t name = 0;  // of the caller or callee; 0 = nobody: it is at the root
  int64_t weight = 0;
};

struct FunctionView {
  uint32_t name = 0;
  int64_t flat = 0;
  int64_t cum = 0;
  // Direct ones, largest first. A call counts once per stack; calls of the function to itself are
  // none. The rules of reports/call_graph.h.
  std::vector<CallWeight> callers;
  std::vector<CallWeight> callees;
  // Paths away from the function, which is the root of both: its callers' callers …, and all below
  // it.
  FlameTree caller_tree;
  FlameTree callee_tree;
};

// The number of the name with that text.
std::optional<uint32_t> find_name(const FrameNames& names, std::string_view text);

// Baselines are not looked at.
FunctionView view_function(const FlameTree& tree, uint32_t name);

}  // namespace vesta
