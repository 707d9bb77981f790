// The entries of a call frame section: one CIE for what many functions share, one FDE for each
// function. A single walk over the section; nothing is looked at twice, so time and memory are
// bounded by its size. Views the section; immutable once read.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "unwind/cfi_section.h"

namespace vesta {

// Where a register of the caller is.
struct SavedRegister {
  enum class Kind : uint8_t {
    kSame,  // also when nothing is said about it
    kUndefined,
    kAtCfa,       // *(CFA + offset)
    kAtRegister,  // *(base + offset)
    kInRegister,  // the register `base`
    kUnknown,     // in a way that no rule can express
  };
  Kind kind = Kind::kSame;
  uint8_t base = 0;
  int64_t offset = 0;
};

// What call frame instructions build up: how to find the caller's frame, at one address.
struct FrameState {
  enum class Cfa : uint8_t {
    kUndefined,
    kRegister,      // base + offset
    kDeref,         // *(base + offset) + addend
    kDerefIndexed,  // *(sp + 8 * base + offset) + 8
    kPlt,
    kUnknown,
  };
  Cfa cfa = Cfa::kUndefined;
  uint8_t base = 0;
  int64_t offset = 0;
  int64_t addend = 0;
  SavedRegister bp;
  SavedRegister bx;
  SavedRegister ra;
};

struct Cie {
  uint64_t offset = 0;  // in the section; FDEs refer to it
  uint64_t code_alignment = 1;
  int64_t data_alignment = 1;
  uint64_t return_register = 0;
  uint8_t pointer_encoding = 0;
  uint8_t address_bytes = 8;
  bool is_signal_frame = false;
  bool has_augmentation_length = false;  // 'z'
  bool is_usable = false;                // else its FDEs are rules we cannot follow
  FrameState initial;
};

struct Fde {
  uint64_t start = 0;  // first address
  uint32_t size = 0;   // bytes of code
  uint32_t cie = 0;    // index into CfiEntries::cies
  uint32_t instructions_offset = 0;
  uint32_t instructions_size = 0;
};

struct CfiEntries {
  CfiSection section;
  std::vector<Cie> cies;  // in order of their offsets
  std::vector<Fde> fdes;  // in the order of the section
  uint64_t skipped = 0;   // FDEs that could not be read, or that describe no code of the file
};

// Reads all entries whose code lies in [low, high), the file's executable part. Damage ends the
// walk; what was read before it counts. kLimit when the section is larger than 4 GiB.
Result<CfiEntries> read_cfi_entries(const CfiSection& section, uint64_t low, uint64_t high);

}  // namespace vesta
