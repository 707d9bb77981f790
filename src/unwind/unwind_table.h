// The unwind table of one ELF file: what the kernel program and the user-space unwinder read to
// find the caller of any address, in the layout of bpf/shared/unwind_table.h. Owns its cells;
// immutable once built, so any number of threads may read one.
#pragma once

#include <shared/unwind_table.h>

#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "symbols/elf/elf_file.h"

namespace vesta {

inline constexpr uint32_t kMaxUnwindPages = 1 << 20;  // 4 GiB of code
inline constexpr uint32_t kMaxUnwindRows = 16 << 20;  // 64 MiB of rows

struct CodeRange {
  uint64_t low = 0;
  uint64_t high = 0;
  uint64_t size() const { return high - low; }
  friend bool operator==(const CodeRange&, const CodeRange&) = default;
};

struct UnwindTable {
  vesta_module header{};        // state is VESTA_MODULE_NO_TABLE when the file has no information
  std::vector<uint64_t> cells;  // empty in that case

  // Code that no table describes, whose rows come from its instructions, and what they were.
  std::vector<CodeRange> decoded;
  Hash128 decoded_fingerprint;

  // About how it was made, for people.
  uint64_t unsupported_rows = 0;  // there is information, but none that a rule can express
  uint64_t lost_bp_rows = 0;      // likewise for the caller's rbp only
  uint64_t skipped_functions = 0;

  bool is_loaded() const { return header.state == VESTA_MODULE_LOADED; }
  uint64_t bytes() const { return cells.size() * sizeof(uint64_t); }
};

// Builds the table of a file from .eh_frame and, for what that does not cover, Go's function table
// or else .debug_frame; for what is left, from the instructions (code_frames.h). `debug_file` is
// the file's separate debug file, whose .debug_frame is used when the file itself has hardly any
// information. kUnsupported when the file is not for x86-64, kLimit when it is too large.
// Damaged information is not an error: what can be read counts.
Result<UnwindTable> build_unwind_table(const ElfFile& file, const ElfFile* debug_file = nullptr);

// Whether a table can be read without leaving it, whatever the address asked for: sizes agree,
// pages and rows are in order, and numbers of rules exist. For tables that come from disk.
Status validate(const UnwindTable& table);

// The rule in force at an address of the file; one of kind VESTA_CFA_NONE where there is none.
// REQUIRES: validate(table) has no error.
vesta_unwind_rule rule_at(const UnwindTable& table, uint64_t address);

}  // namespace vesta
