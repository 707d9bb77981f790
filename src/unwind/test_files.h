// ELF files for tests of unwinding: assembled by gcc from text with .cfi directives, or put
// together byte by byte where no assembler would write such a thing. Test code only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "symbols/elf/elf_file.h"

namespace vesta::testing {

// A shared library from assembly; null (and a test failure) when gcc does not take it.
std::shared_ptr<const ElfFile> assemble(std::string_view source);
// Address of a symbol of .symtab; 0 when there is none.
uint64_t symbol_address(const ElfFile& file, std::string_view name);

// An ELF file with one executable segment of `code_bytes` at kCodeAddress, and what is given.
inline constexpr uint64_t kCodeAddress = 0x1000;
inline constexpr uint64_t kEhFrameAddress = 0x100000;
struct ElfParts {
  std::string eh_frame;
  std::string debug_frame;
  bool has_sections = true;  // else .eh_frame is found through PT_GNU_EH_FRAME
  uint64_t code_bytes = 0x10000;
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
