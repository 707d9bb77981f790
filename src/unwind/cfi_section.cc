#include "unwind/cfi_section.h"

#include <optional>

#include "base/byte_cursor.h"
#include "unwind/cfi_pointer.h"

namespace vesta {
namespace {

// The address of .eh_frame as .eh_frame_hdr (at `address`) says.
std::optional<uint64_t> eh_frame_address(std::string_view header, uint64_t address) {
  CfiSection self;
  self.address = address;
  self.data_base = address;
  ByteCursor cursor(header);
  if (cursor.u8() != 1) return std::nullopt;
  const uint8_t encoding = cursor.u8();
  cursor.skip(2);  // encodings of the look-up table, which is not needed
  return read_pointer(cursor, encoding, 8, self, 0);
}

void set_bases(const ElfFile& file, CfiSection& section) {
  if (const ElfSection* text = file.section(".text")) section.text_base = text->address;
  const ElfSection* got = file.section(".got.plt");
  if (got == nullptr) got = file.section(".got");
  if (got != nullptr) section.data_base = got->address;
}

}  // namespace

CfiSection find_eh_frame(const ElfFile& file) {
  CfiSection out;
  set_bases(file, out);
  if (const ElfSection* section = file.section(".eh_frame");
      section != nullptr && !section->bytes.empty() && !section->is_compressed()) {
    out.bytes = section->bytes;
    out.address = section->address;
    return out;
  }
  for (const Elf64_Phdr& segment : file.segments()) {
    if (segment.p_type != PT_GNU_EH_FRAME) continue;
    const auto address = eh_frame_address(file.bytes_at(segment.p_vaddr), segment.p_vaddr);
    if (!address) continue;
    out.bytes = file.bytes_at(*address);
    out.address = *address;
    out.ends_at_zero = true;
    return out;
  }
  return out;
}

CfiSection find_debug_frame(const ElfFile& file, std::string& storage) {
  CfiSection out;
  out.is_debug_frame = true;
  for (const std::string_view name : {".debug_frame", ".zdebug_frame"}) {
    const ElfSection* section = file.section(name);
    if (section == nullptr) continue;
    const auto bytes = file.contents(*section, storage);
    if (!bytes) continue;
    out.bytes = *bytes;
    return out;
  }
  return out;
}

}  // namespace vesta
