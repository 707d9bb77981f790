#include "symbols/go/go_module.h"

#include <algorithm>
#include <array>
#include <vector>

#include "symbols/go/bytes.h"

namespace vesta {
namespace {

using go::read;

constexpr size_t kMaxCandidates = 16;

// runtime.moduledata in words of 8 bytes, runtime/symtab.go.
constexpr size_t kModuleNames = 1;
constexpr size_t kModuleText = 22;
constexpr size_t kModuleFuncdataBefore120 = 38;
constexpr size_t kModuleFuncdata = 40;  // two words for coverage counters came before it
constexpr size_t kModuleWords = 41;

struct FoundTable {
  uint64_t address = 0;
  std::string_view bytes;
};

std::string_view bytes_of(const ElfFile& file, const Elf64_Phdr& segment) {
  const std::string_view all = file.bytes();
  if (segment.p_offset >= all.size()) return {};
  return all.substr(segment.p_offset, segment.p_filesz);
}

bool is_code(const ElfFile& file, uint64_t address) {
  return std::any_of(file.segments().begin(), file.segments().end(), [&](const Elf64_Phdr& s) {
    return s.p_type == PT_LOAD && (s.p_flags & PF_X) != 0 && address >= s.p_vaddr &&
           address - s.p_vaddr < s.p_memsz;
  });
}

Result<FoundTable> find_table(const ElfFile& file) {
  for (const char* name : {".gopclntab", ".data.rel.ro.gopclntab"}) {
    const ElfSection* section = file.section(name);
    if (section != nullptr && !section->is_compressed() && Pclntab::looks_like(section->bytes)) {
      return FoundTable{section->address, section->bytes};
    }
  }
  const Error none{ErrorCode::kNotFound, "no Go function table (.gopclntab) in this file", {}};
  // Where there are section headers, the linker has named it; the search would read every page of
  // every other program.
  if (file.section(".text") != nullptr) return none;
  for (const Elf64_Phdr& segment : file.segments()) {
    if (segment.p_type != PT_LOAD) continue;
    const std::string_view bytes = bytes_of(file, segment);
    for (uint64_t at = (8 - segment.p_vaddr % 8) % 8; at < bytes.size(); at += 8) {
      // All magic numbers are 0xfffffffX in little-endian order.
      if (bytes.size() - at < 16 || bytes[at + 1] != '\xff' || bytes[at + 2] != '\xff') continue;
      if (!Pclntab::looks_like(bytes.substr(at)) || !Pclntab::parse(bytes.substr(at))) continue;
      return FoundTable{segment.p_vaddr + at, bytes.substr(at)};
    }
  }
  return none;
}

// The relocations that position-independent programs have instead of pointers.
class RelativeRelocations {
 public:
  explicit RelativeRelocations(const ElfFile& file) {
    for (const Elf64_Phdr& segment : file.segments()) {
      if (segment.p_type != PT_DYNAMIC) continue;
      const std::string_view dynamic = bytes_of(file, segment);
      uint64_t address = 0;
      uint64_t size = 0;
      for (size_t at = 0; at + 16 <= dynamic.size(); at += 16) {
        const auto tag = *read<int64_t>(dynamic, at);
        const auto value = *read<uint64_t>(dynamic, at + 8);
        if (tag == DT_NULL) break;
        if (tag == DT_RELA) address = value;
        if (tag == DT_RELASZ) size = value;
      }
      if (size > 0) bytes_ = file.bytes_at(address).substr(0, size);
    }
  }

  template <class Visit>
  void for_each(const Visit& visit) const {
    for (size_t at = 0; at + sizeof(Elf64_Rela) <= bytes_.size(); at += sizeof(Elf64_Rela)) {
      if (ELF64_R_TYPE(*read<uint64_t>(bytes_, at + 8)) != R_X86_64_RELATIVE) continue;
      visit(*read<uint64_t>(bytes_, at), *read<uint64_t>(bytes_, at + 16));
    }
  }

 private:
  std::string_view bytes_;
};

using ModuleWords = std::array<uint64_t, kModuleWords>;

// Addresses of words that point to the table, moduledata's first member among them.
std::vector<uint64_t> pointers_to(const ElfFile& file, const RelativeRelocations& relocations,
                                  uint64_t table) {
  std::vector<uint64_t> found;
  relocations.for_each([&](uint64_t place, uint64_t target) {
    if (target == table && found.size() < kMaxCandidates) found.push_back(place);
  });
  for (const Elf64_Phdr& segment : file.segments()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
    const std::string_view bytes = bytes_of(file, segment);
    for (uint64_t at = (8 - segment.p_vaddr % 8) % 8; at + 8 <= bytes.size(); at += 8) {
      if (*read<uint64_t>(bytes, at) != table || found.size() >= kMaxCandidates) continue;
      found.push_back(segment.p_vaddr + at);
    }
  }
  return found;
}

ModuleWords words_at(const ElfFile& file, const RelativeRelocations& relocations,
                     uint64_t address) {
  ModuleWords words{};
  const std::string_view bytes = file.bytes_at(address);
  for (size_t i = 0; i < words.size(); ++i) words[i] = read<uint64_t>(bytes, i * 8).value_or(0);
  relocations.for_each([&](uint64_t place, uint64_t target) {
    if (place < address || place - address >= sizeof(ModuleWords)) return;
    if ((place - address) % 8 == 0) words[(place - address) / 8] = target;
  });
  return words;
}

// Value of the first symbol of one of these names; 0 when there is none.
uint64_t symbol_value(const ElfFile& file, std::initializer_list<std::string_view> names) {
  const ElfSection* symbols = file.section(".symtab");
  const ElfSection* strings = symbols == nullptr ? nullptr : file.section(size_t{symbols->link});
  if (strings == nullptr || symbols->is_compressed() || strings->is_compressed()) return 0;
  for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols->bytes.size(); at += sizeof(Elf64_Sym)) {
    const uint32_t name = *read<uint32_t>(symbols->bytes, at);
    if (name >= strings->bytes.size()) continue;
    const std::string_view rest = strings->bytes.substr(name);
    for (const std::string_view wanted : names) {
      if (rest.size() > wanted.size() && rest.starts_with(wanted) && rest[wanted.size()] == '\0') {
        return *read<uint64_t>(symbols->bytes, at + offsetof(Elf64_Sym, st_value));
      }
    }
  }
  return 0;
}

struct ModuleAddresses {
  uint64_t text = 0;
  uint64_t funcdata = 0;
};

ModuleAddresses read_module(const ElfFile& file, const Pclntab& table, uint64_t table_address) {
  const RelativeRelocations relocations(file);
  const size_t funcdata =
      table.version() == PclntabVersion::kGo18 ? kModuleFuncdataBefore120 : kModuleFuncdata;
  for (const uint64_t candidate : pointers_to(file, relocations, table_address)) {
    const ModuleWords words = words_at(file, relocations, candidate);
    if (words[kModuleNames] != table_address + table.names_offset()) continue;
    if (!is_code(file, words[kModuleText])) continue;
    return {words[kModuleText], words[funcdata]};
  }
  return {symbol_value(file, {"runtime.text"}), symbol_value(file, {"go:func.*", "go.func.*"})};
}

}  // namespace

Result<GoModule> find_go_module(const ElfFile& file) {
  VESTA_ASSIGN(const FoundTable found, find_table(file));
  VESTA_ASSIGN(Pclntab table, Pclntab::parse(found.bytes));
  if (table.version() < PclntabVersion::kGo18) {
    const auto first = table.function(0);
    if (!first || !is_code(file, first->entry)) {
      return Error{ErrorCode::kUnsupported,
                   "the Go function table has no addresses: a position-independent program built "
                   "with Go 1.17 or older",
                   "build it with a newer Go, or without -buildmode=pie"};
    }
    return GoModule{table, {}};
  }
  const ModuleAddresses module = read_module(file, table, found.address);
  uint64_t text = module.text;
  if (text == 0) text = table.header_text_start();
  if (text == 0 && file.section(".text") != nullptr) text = file.section(".text")->address;
  if (!is_code(file, text)) {
    return Error{ErrorCode::kInvalidInput, "the Go function table has no address of the code", {}};
  }
  table.set_text_start(text);
  return GoModule{table, file.bytes_at(module.funcdata)};
}

}  // namespace vesta
