#include "unwind/cfi_pointer.h"

namespace vesta {
namespace {

void align_cursor(ByteCursor& cursor, const CfiSection& section, uint64_t cursor_offset) {
  const uint64_t address = section.address + cursor_offset + cursor.offset();
  cursor.skip((8 - address % 8) % 8);
}

}  // namespace

std::optional<uint64_t> read_pointer_value(ByteCursor& cursor, uint8_t encoding,
                                           uint8_t address_bytes) {
  uint64_t value = 0;
  switch (encoding & kPointerFormatMask) {
    case kPointerAbsolute:
      value = address_bytes == 4 ? cursor.u32() : cursor.u64();
      break;
    case kPointerU64:
    case kPointerS64:
      value = cursor.u64();
      break;
    case kPointerU32:
      value = cursor.u32();
      break;
    case kPointerS32:
      value = static_cast<uint64_t>(static_cast<int32_t>(cursor.u32()));
      break;
    case kPointerU16:
      value = cursor.u16();
      break;
    case kPointerS16:
      value = static_cast<uint64_t>(static_cast<int16_t>(cursor.u16()));
      break;
    case kPointerUleb:
      value = cursor.uleb();
      break;
    case kPointerSleb:
      value = static_cast<uint64_t>(cursor.sleb());
      break;
    default:
      return std::nullopt;
  }
  if (!cursor.ok()) return std::nullopt;
  return value;
}

std::optional<uint64_t> read_pointer(ByteCursor& cursor, uint8_t encoding, uint8_t address_bytes,
                                     const CfiSection& section, uint64_t cursor_offset) {
  if (encoding == kPointerOmit || (encoding & kPointerIndirect) != 0) return std::nullopt;
  uint64_t base = 0;
  switch (encoding & kPointerBaseMask) {
    case kPointerAbsolute:
      break;
    case kPointerPcRelative:
      base = section.address + cursor_offset + cursor.offset();
      break;
    case kPointerTextRelative:
      base = section.text_base;
      break;
    case kPointerDataRelative:
      base = section.data_base;
      break;
    case kPointerAligned:
      align_cursor(cursor, section, cursor_offset);
      break;
    default:
      return std::nullopt;
  }
  const auto value = read_pointer_value(cursor, encoding, address_bytes);
  if (!value) return std::nullopt;
  return base + *value;
}

bool skip_pointer(ByteCursor& cursor, uint8_t encoding, const CfiSection& section,
                  uint64_t cursor_offset) {
  if (encoding == kPointerOmit) return true;
  if ((encoding & kPointerBaseMask) == kPointerAligned) {
    align_cursor(cursor, section, cursor_offset);
  }
  return read_pointer_value(cursor, encoding, 8).has_value();
}

}  // namespace vesta
