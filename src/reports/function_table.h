// Flat and cumulative weight of every function (line, file, binary), as people know it from
// `pprof -top`: of a file's profile or of a store's selection. No node budget touches it. Pure
// functions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "profile/frame_profile.h"
#include "reports/inline_uses.h"
#include "reports/selection_tree.h"

namespace vesta {

struct FunctionRow {
  uint32_t name = 0;  // of `names`
  int64_t flat = 0;
  int64_t cum = 0;  // a recursive function counts once
  int64_t baseline_flat = 0;
  int64_t baseline_cum = 0;
  uint32_t callers = 0;                   // distinct direct ones; count_callers()
  InlineUse inlined = InlineUse::kNever;  // whether its callers had it inlined
  // Of a comparison, function_changes.h.
  double p_value = 1;
  double q_value = 1;

  int64_t flat_delta() const { return saturating_subtract(flat, baseline_flat); }
  int64_t cum_delta() const { return saturating_subtract(cum, baseline_cum); }
};

enum class TopOrder { kByFlat, kByCum };

struct FunctionTable {
  std::shared_ptr<const FrameNames> names;
  std::vector<FunctionRow> rows;
  bool has_baseline = false;
  bool counts_callers = false;
  bool tells_chance = false;  // p_value and q_value are set
  int64_t whole = 0;          // of all stacks, before filters
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
// With marks of what was inlined. Numbers of names are those of the profile's frames.
FunctionTable function_table(const FrameProfile& profile);

// Which rows of a table somebody wants to see.
struct RowChoice {
  TopOrder order = TopOrder::kByFlat;
  size_t limit = 0;                       // 0 = all
  size_t offset = 0;                      // so many of the first are left out
  std::shared_ptr<const re2::RE2> match;  // of the text that names the row; null = any
  double min_share = 0;                   // of the whole; rows of a smaller `cum` are cut
  bool drop_negative = false;             // rows with a negative value are cut
  bool marks_inlined = false;             // of a selection: looks for what was inlined
};
// Rows that do not match are gone; the others are sorted, the largest first, ties by name and then
// by the other weight, as pprof has them, and all but `limit` after the first `offset` are cut. A
// table with a baseline is sorted by the size of the change.
void choose_rows(FunctionTable& table, const RowChoice& choice);
void sort_rows(FunctionTable& table, TopOrder order, size_t limit);

// Who calls the functions of the rows that are left, by the rules of callers.h: a function does not
// call itself, and what is at the root has no caller.
// REQUIRES: the table is of this tree; of this selection by function, without a filter
void count_callers(FunctionTable& table, const FlameTree& tree);
void count_callers(FunctionTable& table, const Selection& selection);

// Which of the rows that are left were inlined. REQUIRES: as count_callers()
void mark_inlined(FunctionTable& table, const FlameTree& tree);
void mark_inlined(FunctionTable& table, const Selection& selection);

// The rows that are wanted; those of a selection with their callers.
FunctionTable top_functions(const Selection& selection, const TreeOptions& options,
                            const RowChoice& choice);
FunctionTable top_functions(const FrameProfile& profile, const RowChoice& choice);

// By node: no node between this one and the root has the same name.
std::vector<uint8_t> outermost_nodes(const FlameTree& tree);

}  // namespace vesta
