#include <cstdlib>

#include "symbols/elf/symbol_table.h"

// Whatever the file says: every span lies inside of it, and the table holds its invariants.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vesta::ElfFile::Limits limits;
  limits.max_unpacked_bytes = 1 << 20;
  auto parsed = vesta::ElfFile::parse(
      vesta::InputFile::from_bytes(std::string(reinterpret_cast<const char*>(data), size)), limits);
  if (!parsed) return 0;
  const vesta::ElfFile& file = **parsed;
  const std::string_view bytes = file.bytes();
  size_t sections = 0;
  for (const vesta::ElfSection& section : file.sections()) {
    if (!section.bytes.empty() &&
        (section.bytes.data() < bytes.data() ||
         section.bytes.data() + section.bytes.size() > bytes.data() + bytes.size())) {
      std::abort();
    }
    std::string storage;
    if (++sections < 16) (void)file.contents(section, storage);
    file.bytes_at(section.address);
    file.address_of_offset(section.offset);
  }
  file.debug_link();
  vesta::SymbolTable::Limits table_limits;
  table_limits.max_mini_debug_bytes = 1 << 20;
  const vesta::SymbolTable table = vesta::SymbolTable::build(*parsed, nullptr, table_limits);
  for (const vesta::ElfSection& section : file.sections()) {
    for (uint64_t i = 0; i < 8; ++i) {
      vesta::ElfSymbol symbol;
      const uint64_t address = section.address + i * 16;
      if (!table.lookup(address, symbol)) continue;
      if (symbol.name.empty() || address < symbol.address ||
          address - symbol.address >= symbol.size) {
        std::abort();
      }
    }
    if (sections > 1000) break;
  }
  return 0;
}
