#include "symbols/elf/plt_names.h"

#include <algorithm>
#include <cstring>

namespace vesta {
namespace {

struct Slot {
  uint64_t address;
  uint32_t symbol;
  uint64_t resolver;  // 0: by symbol
};

std::vector<Slot> read_slots(const ElfFile& file, uint32_t max_entries) {
  std::vector<Slot> slots;
  for (const ElfSection& section : file.sections()) {
    if (section.type != SHT_RELA) continue;
    std::string_view bytes = section.bytes;
    Elf64_Rela relocation;
    while (bytes.size() >= sizeof(relocation) && slots.size() < max_entries) {
      std::memcpy(&relocation, bytes.data(), sizeof(relocation));
      bytes.remove_prefix(sizeof(relocation));
      const uint64_t type = ELF64_R_TYPE(relocation.r_info);
      const auto symbol = static_cast<uint32_t>(ELF64_R_SYM(relocation.r_info));
      if (type == R_X86_64_JUMP_SLOT || (type == R_X86_64_GLOB_DAT && symbol != 0)) {
        slots.push_back({relocation.r_offset, symbol, 0});
      } else if (type == R_X86_64_IRELATIVE) {
        slots.push_back({relocation.r_offset, 0, static_cast<uint64_t>(relocation.r_addend)});
      }
    }
  }
  std::ranges::stable_sort(slots, {}, &Slot::address);
  return slots;
}

// Where the stub's indirect jump reads its target: `jmp *disp(%rip)`, with `bnd` and `endbr64`
// before it or not. 0 when there is none within the stub.
uint64_t jump_slot(std::string_view stub, uint64_t address) {
  for (size_t i = 0; i + 6 <= stub.size() && i <= 5; ++i) {
    if (static_cast<uint8_t>(stub[i]) != 0xff || static_cast<uint8_t>(stub[i + 1]) != 0x25) {
      continue;
    }
    int32_t displacement = 0;
    std::memcpy(&displacement, stub.data() + i + 2, sizeof(displacement));
    return address + i + 6 + static_cast<uint64_t>(int64_t{displacement});
  }
  return 0;
}

}  // namespace

std::vector<PltEntry> find_plt_entries(const ElfFile& file, uint32_t max_entries) {
  std::vector<PltEntry> entries;
  if (file.machine() != EM_X86_64) return entries;
  std::vector<Slot> slots;
  const ElfSection* symbols = file.section(".dynsym");
  const ElfSection* strings = symbols != nullptr ? file.section(size_t{symbols->link}) : nullptr;
  const auto name_of = [&](uint32_t index) -> std::string_view {
    Elf64_Sym symbol;
    if (symbols == nullptr || strings == nullptr ||
        index >= symbols->bytes.size() / sizeof(symbol)) {
      return {};
    }
    std::memcpy(&symbol, symbols->bytes.data() + size_t{index} * sizeof(symbol), sizeof(symbol));
    if (symbol.st_name >= strings->bytes.size()) return {};
    constexpr size_t kMaxName = 4096;
    const std::string_view rest = strings->bytes.substr(symbol.st_name, kMaxName);
    const size_t end = rest.find('\0');
    return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
  };
  for (const ElfSection& section : file.sections()) {
    if ((section.flags & SHF_EXECINSTR) == 0 || !section.name.starts_with(".plt")) continue;
    if (slots.empty()) slots = read_slots(file, max_entries);
    // .plt and .plt.sec have stubs of 16 bytes; .plt.got of 8, or 16 with endbr64.
    const uint32_t step = section.entry_size == 8 ? 8 : 16;
    for (uint64_t at = 0; at + step <= section.bytes.size(); at += step) {
      if (entries.size() >= max_entries) return entries;
      const uint64_t address = section.address + at;
      const uint64_t slot = jump_slot(section.bytes.substr(at, step), address);
      if (slot == 0) continue;
      const auto found = std::ranges::lower_bound(slots, slot, {}, &Slot::address);
      if (found == slots.end() || found->address != slot) continue;
      PltEntry entry{address, step, name_of(found->symbol), found->resolver};
      if (!entry.name.empty() || entry.resolver != 0) entries.push_back(entry);
    }
  }
  return entries;
}

}  // namespace vesta
