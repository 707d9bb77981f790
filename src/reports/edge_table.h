// Calls from name to name, each pair once, for the reports that count them. Owns its entries. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "base/id_index.h"
#include "base/table_hash.h"

namespace vesta {

class EdgeTable {
 public:
  struct Edge {
    uint32_t from = 0;  // caller
    uint32_t to = 0;    // callee
    int64_t weight = 0;
    uint32_t last_seen = 0;  // the stack that counted it last, plus one
    bool inlined = true;
  };

  Edge& find(uint32_t from, uint32_t to) {
    const auto at = index_.find_or_insert(
        TableHash().add(uint64_t{from} << 32 | to).value(),
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

}  // namespace vesta
