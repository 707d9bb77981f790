// Pointers as call frame information writes them: a format and a base in one byte of encoding
// (DW_EH_PE_*; Linux Standard Base, "DWARF Extensions"). Pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_cursor.h"
#include "unwind/cfi_section.h"

namespace vesta {

// Encodings of pointers (DW_EH_PE_*).
enum : uint8_t {
  kPointerOmit = 0xff,
  kPointerIndirect = 0x80,
  kPointerFormatMask = 0x0f,
  kPointerBaseMask = 0x70,
  kPointerAbsolute = 0x00,
  kPointerUleb = 0x01,
  kPointerU16 = 0x02,
  kPointerU32 = 0x03,
  kPointerU64 = 0x04,
  kPointerSleb = 0x09,
  kPointerS16 = 0x0a,
  kPointerS32 = 0x0b,
  kPointerS64 = 0x0c,
  kPointerPcRelative = 0x10,
  kPointerTextRelative = 0x20,
  kPointerDataRelative = 0x30,
  kPointerFunctionRelative = 0x40,
  kPointerAligned = 0x50,
};

// The value without its base: how lengths are written.
std::optional<uint64_t> read_pointer_value(ByteCursor& cursor, uint8_t encoding,
                                           uint8_t address_bytes);

// The whole pointer. `cursor_offset` is where the cursor's bytes begin in the section. Nothing for
// encodings that need the memory of a process.
std::optional<uint64_t> read_pointer(ByteCursor& cursor, uint8_t encoding, uint8_t address_bytes,
                                     const CfiSection& section, uint64_t cursor_offset);

// Passes over a pointer of any encoding; false when it is cut off or of no known format.
bool skip_pointer(ByteCursor& cursor, uint8_t encoding, const CfiSection& section,
                  uint64_t cursor_offset);

}  // namespace vesta
