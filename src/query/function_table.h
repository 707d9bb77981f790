// Flat and cumulative weight of every function (line, file, binary), from the whole selection: no
// node budget touches it. Pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "profile/top_table.h"
#include "query/flame_tree.h"

namespace vesta {

struct FunctionRow {
  uint32_t name = 0;  // of `names`
  int64_t flat = 0;
  int64_t cum = 0;  // a recursive function counts once
  int64_t baseline_flat = 0;
  int64_t baseline_cum = 0;

  int64_t flat_delta() const { return saturating_subtract(flat, baseline_flat); }
  int64_t cum_delta() const { return saturating_subtract(cum, baseline_cum); }
};

struct FunctionTable {
  std::shared_ptr<const FrameNames> names;
  std::vector<FunctionRow> rows;
  bool has_baseline = false;
  int64_t whole = 0;  // of all stacks, before filters
  int64_t baseline_whole = 0;
  // What a limit left out.
  uint64_t cut_rows = 0;
  int64_t cut_flat = 0;
  int64_t cut_flat_delta = 0;
};

// Every row, in no order. Does not put the services' trees together, unless a filter or a grouping
// other than by function asks for it.
FunctionTable function_table(const Selection& selection, const TreeOptions& options);
FunctionTable function_table(const FlameTree& tree);

// The largest first, ties by name; all but `limit` rows are cut. 0 keeps all. A table with a
// baseline is sorted by the size of the change.
void sort_rows(FunctionTable& table, TopOrder order, size_t limit);

// By node: no node between this one and the root has the same name.
std::vector<uint8_t> outermost_nodes(const FlameTree& tree);

}  // namespace vesta
