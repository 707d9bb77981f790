// Who calls whom, with how much: the base of the tree and peek reports. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/frame_profile.h"
#include "reports/function_table.h"

namespace vesta {

struct CallEdge {
  uint32_t from = 0;  // caller: a name
  uint32_t to = 0;    // callee
  int64_t weight = 0;
  bool inlined = false;  // every call seen was inlined
};

struct CallGraph {
  FunctionTable nodes;          // in the order asked for
  std::vector<CallEdge> edges;  // by weight, largest first
  // Positions in `edges`, by name.
  std::vector<std::vector<uint32_t>> in_edges;
  std::vector<std::vector<uint32_t>> out_edges;

  // By weight, largest first.
  std::vector<CallEdge> callers_of(uint32_t name) const;
  std::vector<CallEdge> callees_of(uint32_t name) const;
};

// An edge counts once per sample, however often the call recurs in its stack; a function calling
// itself has no edge, and an edge is an inlined one only while the outermost call of every stack
// was inlined: pprof's rules.
CallGraph build_call_graph(const FrameProfile& profile, TopOrder order);
CallGraph build_call_graph(const FlameTree& tree, TopOrder order);

}  // namespace vesta
