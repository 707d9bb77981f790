// Who calls whom, with how much: the base of the tree and peek reports. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/list_table.h"
#include "profile/top_table.h"

namespace vesta {

struct CallEdge {
  FrameId from;  // caller
  FrameId to;    // callee
  int64_t weight = 0;
  bool inlined = false;  // every call seen was inlined
};

struct CallGraph {
  std::vector<TopRow> nodes;    // in the order asked for
  std::vector<CallEdge> edges;  // by weight, largest first
  // Positions in `edges`, by frame.
  ListTable<FrameId, uint32_t> in_edges;
  ListTable<FrameId, uint32_t> out_edges;

  // By weight, largest first.
  std::vector<CallEdge> callers_of(FrameId frame) const;
  std::vector<CallEdge> callees_of(FrameId frame) const;
};

// An edge counts once per sample, however often the call recurs in its stack; a function calling
// itself has no edge, as in pprof.
CallGraph build_call_graph(const FrameProfile& profile, TopOrder order);

}  // namespace vesta
