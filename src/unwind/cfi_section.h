// Finds call frame information in an ELF file: .eh_frame by its section or, when a file has no
// section headers, by the PT_GNU_EH_FRAME segment; .debug_frame by its section. Views the file's
// bytes, or `storage` when they had to be unpacked. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "symbols/elf/elf_file.h"

namespace vesta {

struct CfiSection {
  std::string_view bytes;  // empty: there is none
  uint64_t address = 0;    // where `bytes` is in memory, for pc-relative values
  uint64_t text_base = 0;  // what text- and data-relative values count from; 0 when not known
  uint64_t data_base = 0;
  bool is_debug_frame = false;
  bool ends_at_zero = false;  // its size is not known: an entry of length 0 is the end
};

CfiSection find_eh_frame(const ElfFile& file);
CfiSection find_debug_frame(const ElfFile& file, std::string& storage);

}  // namespace vesta
