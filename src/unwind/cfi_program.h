// Call frame instructions, run: from the bytes of a CIE or FDE to rules by address. The state kept
// is what a rule needs (CFA, rbp, return address), so a run is cheap. Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "unwind/cfi_entries.h"
#include "unwind/row_writer.h"

namespace vesta {

// Runs a CIE's instructions into `cie.initial`. False when they cannot be followed.
bool run_initial_instructions(std::string_view instructions, const CfiSection& section, Cie& cie);

// Writes the rows of one function into `rows`: the first at `first` (its start, or just below),
// the others where they are, as long as that is below `limit`. Whatever cannot be followed becomes
// VESTA_CFA_UNSUPPORTED from there to the function's end.
// REQUIRES: `first` is above all rows written so far; limit > fde.start.
void write_function_rows(const CfiEntries& entries, const Fde& fde, uint64_t first, uint64_t limit,
                         RowWriter& rows);

// The rule for a state; `lost_bp` is set when rbp is somewhere that no rule can express.
vesta_unwind_rule rule_of(const FrameState& state, bool is_signal_frame, bool& lost_bp);

}  // namespace vesta
