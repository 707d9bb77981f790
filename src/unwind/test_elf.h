// ELF files put together byte by byte, for tests and fuzz targets: with call frame information that
// no assembler would write. Test code only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "symbols/elf/elf_file.h"

namespace vesta::testing {

// An ELF file with one executable segment of `code_bytes` at kCodeAddress, and what is given.
inline constexpr uint64_t kCodeAddress = 0x1000;
inline constexpr uint64_t kEhFrameAddress = 0x100000;
struct ElfParts {
  std::string eh_frame;
  std::string debug_frame;
  bool has_sections = true;  // else .eh_frame is found through PT_GNU_EH_FRAME
  uint64_t code_bytes = 0x10000;
  std::string code;  // what is in the segment to begin with, as a section
  uint64_t entry = 0;
};
std::string make_elf(const ElfParts& parts);
std::shared_ptr<const ElfFile> parse_elf(const ElfParts& parts);

// Little-endian bytes, appended.
class Bytes {
 public:
  Bytes& u8(uint64_t value) { return number(value, 1); }
  Bytes& u16(uint64_t value) { return number(value, 2); }
  Bytes& u32(uint64_t value) { return number(value, 4); }
  Bytes& u64(uint64_t value) { return number(value, 8); }
  Bytes& text(std::string_view value) {
    out_ += value;
    return *this;
  }
  // An entry of a call frame section: its length, then itself, padded with DW_CFA_nop.
  Bytes& entry(const Bytes& body) {
    const size_t padding = (8 - (body.size() + 4) % 8) % 8;
    u32(body.size() + padding).text(body.str());
    out_.append(padding, '\0');
    return *this;
  }
  size_t size() const { return out_.size(); }
  const std::string& str() const { return out_; }

 private:
  Bytes& number(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out_ += static_cast<char>(value >> (8 * i));
    return *this;
  }
  std::string out_;
};

}  // namespace vesta::testing
