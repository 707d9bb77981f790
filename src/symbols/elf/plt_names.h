// Names for the stubs in .plt, .plt.sec and .plt.got: each jumps through a slot of the global
// offset table, and the slot's relocation names the function. x86-64 only; other machines give
// nothing. Pure; the views are into the file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "symbols/elf/elf_file.h"

namespace vesta {

struct PltEntry {
  uint64_t address = 0;
  uint32_t size = 0;
  std::string_view name;  // empty for IRELATIVE slots
  uint64_t resolver = 0;  // of IRELATIVE slots: the function that chooses
};

// At most `max_entries`; by section, ascending within each.
std::vector<PltEntry> find_plt_entries(const ElfFile& file, uint32_t max_entries);

}  // namespace vesta
