// Makes small ELF files, valid or not, out of sections. For tests; pure.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/elf/elf_file.h"

namespace vesta::testing {

class ElfBuilder {
 public:
  struct Section {
    std::string name;
    std::string bytes;
    uint32_t type = SHT_PROGBITS;
    uint64_t flags = 0;
    uint64_t address = 0;
    uint32_t link = 0;
    uint64_t entry_size = 0;
    uint64_t size = ~0ULL;  // ~0: that of the bytes
  };

  // Returns the section's number.
  uint32_t add(Section section) {
    sections_.push_back(std::move(section));
    return static_cast<uint32_t>(sections_.size());
  }

  // 4 KB of code at 0x1000.
  uint32_t add_code(uint64_t size = 0x1000) {
    return add({".text", {}, SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, 0, 0, size});
  }

  std::string build() const {
    std::string names(1, '\0');
    std::string body(sizeof(Elf64_Ehdr), '\0');
    std::vector<Elf64_Shdr> headers(1);
    const auto place = [&](const Section& section) {
      Elf64_Shdr header{};
      header.sh_name = static_cast<uint32_t>(names.size());
      names.append(section.name).push_back('\0');
      header.sh_type = section.type;
      header.sh_flags = section.flags;
      header.sh_addr = section.address;
      header.sh_offset = body.size();
      header.sh_size = section.size != ~0ULL ? section.size : section.bytes.size();
      header.sh_link = section.link;
      header.sh_entsize = section.entry_size;
      body += section.bytes;
      headers.push_back(header);
    };
    for (const Section& section : sections_) place(section);
    Section last{".shstrtab", {}, SHT_STRTAB};
    last.bytes = names + ".shstrtab" + std::string(1, '\0');
    place(last);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_shoff = body.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(headers.size());
    header.e_shstrndx = static_cast<uint16_t>(headers.size() - 1);
    std::memcpy(body.data(), &header, sizeof(header));
    body.append(reinterpret_cast<const char*>(headers.data()), headers.size() * sizeof(Elf64_Shdr));
    return body;
  }

  std::shared_ptr<const ElfFile> open() const {
    auto file = ElfFile::parse(InputFile::from_bytes(build()));
    return file ? *file : nullptr;
  }

 private:
  std::vector<Section> sections_;
};

// Little-endian bytes, one value after the other.
class Bytes {
 public:
  Bytes& u8(uint64_t value) { return put(value, 1); }
  Bytes& u16(uint64_t value) { return put(value, 2); }
  Bytes& u32(uint64_t value) { return put(value, 4); }
  Bytes& u64(uint64_t value) { return put(value, 8); }
  Bytes& uleb(uint64_t value) {
    do {
      const uint64_t low = value & 0x7F;
      value >>= 7;
      u8(low | (value != 0 ? 0x80 : 0));
    } while (value != 0);
    return *this;
  }
  Bytes& text(std::string_view value) {
    bytes_.append(value).push_back('\0');
    return *this;
  }
  Bytes& raw(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  const std::string& str() const { return bytes_; }
  size_t size() const { return bytes_.size(); }

 private:
  Bytes& put(uint64_t value, size_t size) {
    bytes_.append(reinterpret_cast<const char*>(&value), size);
    return *this;
  }
  std::string bytes_;
};

struct TestSymbol {
  std::string name;
  uint64_t address = 0;
  uint64_t size = 0;
  uint8_t type = STT_FUNC;
  uint8_t binding = STB_GLOBAL;
};
// Adds .symtab and .strtab (or the dynamic ones) with symbols in section `code`.
inline void add_symbols(ElfBuilder& elf, uint32_t code, const std::vector<TestSymbol>& symbols,
                        bool dynamic = false) {
  std::string strings(1, '\0');
  std::string table(sizeof(Elf64_Sym), '\0');
  for (const TestSymbol& symbol : symbols) {
    Elf64_Sym raw{};
    raw.st_name = static_cast<uint32_t>(strings.size());
    raw.st_info = static_cast<uint8_t>(ELF64_ST_INFO(symbol.binding, symbol.type));
    raw.st_shndx = static_cast<uint16_t>(code);
    raw.st_value = symbol.address;
    raw.st_size = symbol.size;
    strings.append(symbol.name).push_back('\0');
    table.append(reinterpret_cast<const char*>(&raw), sizeof(raw));
  }
  const uint32_t names = elf.add({dynamic ? ".dynstr" : ".strtab", strings, SHT_STRTAB});
  elf.add({dynamic ? ".dynsym" : ".symtab", table,
           static_cast<uint32_t>(dynamic ? SHT_DYNSYM : SHT_SYMTAB), 0, 0, names,
           sizeof(Elf64_Sym)});
}

}  // namespace vesta::testing
