// What became of each function between two selections, and whether that can be chance. Pure
// functions of a table that compares both.
#pragma once

#include <cstdint>
#include <string_view>

#include "reports/function_table.h"

namespace vesta {

enum class RowChange : uint8_t { kSame, kChanged, kNew, kRemoved };
RowChange change_of(const FunctionRow& row);
// "same", "changed", "new", "removed"
std::string_view change_word(RowChange change);

// Samples behind each side; 0 = not known, and then nothing is tested.
struct ComparedSamples {
  uint64_t before = 0;
  uint64_t after = 0;
  // Where rates are compared: the time that each side was watched for, over all instances.
  int64_t before_ns = 0;
  int64_t after_ns = 0;
  bool known() const { return before != 0 && after != 0; }
};
ComparedSamples compared_samples(const Selection& before, const Selection& after);

// Sets p_value and q_value of every row: whether the function's share, or its rate where times are
// given, of its own weight or of that with all it calls, differs between the sides. The q-values
// are over the rows that there are, so this comes before rows are chosen. Nothing unless the
// samples are known. REQUIRES: the table has a baseline
void test_changes(FunctionTable& table, const ComparedSamples& samples);

// Change against the row's own baseline; infinite for what is new.
double relative_change(int64_t before, int64_t delta);

enum class ChangeOrder : uint8_t { kFlat, kCum, kRelative };
// Rows sorted by change: what grew most first, what shrank most last, ties by name and then by the
// size of the other change, as pprof has them. Where `limit` (0 = none) has no room for all, the
// largest changes stay, of either sign; rows below `min_share` of the larger whole are cut.
void choose_changes(FunctionTable& table, ChangeOrder order, size_t limit, double min_share);

// "known" once changes were tested, "unknown" before.
std::string_view significance_word(const FunctionTable& table);

// Keeps such rows alone: "new", "removed", "changed", "significant"; any other word keeps all.
void keep_changes(FunctionTable& table, std::string_view word);

}  // namespace vesta
