// Frames of code that no table describes (C libraries without call frame information, hand-written
// assembly), read from its instructions: a function is followed along all its ways from its start,
// and counts only if every way out of it leaves the stack as it was found. What is not understood
// gets no rule. Bounded in time and memory by the size of the code.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/hash.h"
#include "symbols/elf/elf_file.h"
#include "unwind/function_source.h"

namespace vesta {

// Code is decoded only up to this many bytes of a file; a file with more of it that no table
// describes gets no rules for any of it.
inline constexpr uint64_t kMaxDecodedBytes = 16ULL << 20;
inline constexpr uint64_t kMinDecodedRange = 16;  // what alignment leaves is shorter

// The code of a file that is part of no function of these sources, in order; without what alignment
// leaves between functions. Empty when that is more than kMaxDecodedBytes.
std::vector<CodeRange> undescribed_code(const ElfFile& file,
                                        std::span<const FunctionSource* const> sources);

// Where functions begin in those ranges, as far as instructions tell; in order.
struct DecodedCode {
  struct Row {
    uint64_t address = 0;
    vesta_unwind_rule rule{};
  };
  std::vector<Row> rows;         // in order of addresses
  std::vector<uint64_t> starts;  // of functions that were followed
};
DecodedCode decode_frames(const ElfFile& file, std::span<const CodeRange> ranges);

// Of everything that decode_frames() reads.
Hash128 decoded_fingerprint(const ElfFile& file, std::span<const CodeRange> ranges);

// A source of what decode_frames() found. `ranges` and `code` must outlive it.
std::unique_ptr<FunctionSource> decoded_source(std::span<const CodeRange> ranges,
                                               const DecodedCode& code);

}  // namespace vesta
