// Calls from frame to frame, each pair once, for the reports that count them. Owns its entries. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "base/id_index.h"
#include "base/table_hash.h"
#include "profile/frame_profile.h"

namespace vesta {

class EdgeTable {
 public:
  struct Edge {
    FrameId from;  // caller
    FrameId to;    // callee
    int64_t weight = 0;
    uint32_t last_seen = 0;  // the stack that counted it last, plus one
    bool inlined = true;
  };

  Edge& find(FrameId from, FrameId to) {
    const auto at = index_.find_or_insert(
        TableHash().add(uint64_t{from.value} << 32 | to.value).value(),
        [&](uint32_t i) { return edges_[i].from == from && edges_[i].to == to; },
        [&] {
          edges_.push_back({from, to, 0, 0, true});
          return static_cast<uint32_t>(edges_.size() - 1);
        });
    return edges_[at];
  }

  std::vector<Edge>& edges() { return edges_; }

 private:
  std::vector<Edge> edges_;
  IdIndex index_;
};

// Calls `visit(edge)` for every call in the stack, from the root to the leaf, each once however
// often it recurs. A function that calls itself has no edge. The edge is an inlined one only while
// the outermost call of every stack was inlined: pprof's rules.
template <class Visit>
void visit_edges(EdgeTable& table, FrameStackId id, std::span<const FrameRef> stack,
                 Visit&& visit) {
  for (size_t i = stack.size(); i-- > 1;) {
    const FrameRef caller = stack[i];
    const FrameRef callee = stack[i - 1];
    if (caller.frame() == callee.frame()) continue;
    EdgeTable::Edge& edge = table.find(caller.frame(), callee.frame());
    if (edge.last_seen == id.value + 1) continue;
    edge.last_seen = id.value + 1;
    edge.inlined = edge.inlined && callee.inlined();
    visit(edge);
  }
}

}  // namespace vesta
