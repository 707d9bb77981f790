#include "unwind/test_elf.h"

#include <cstring>

namespace vesta::testing {
namespace {

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

std::string make_elf(const ElfParts& parts) {
  constexpr std::string_view kNames("\0.eh_frame\0.debug_frame\0.shstrtab\0.text\0", 40);
  const uint64_t eh_offset = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
  // .eh_frame_hdr comes before, in the same segment: version 1, pcrel sdata4, no table.
  Bytes header;
  header.u8(1).u8(0x1b).u8(0xff).u8(0xff).u32(12).u64(0);
  const std::string eh_segment = header.str() + parts.eh_frame;
  const uint64_t debug_offset = eh_offset + eh_segment.size();
  const uint64_t names_offset = debug_offset + parts.debug_frame.size();
  const uint64_t code_offset = names_offset + kNames.size();
  const uint64_t sections_offset = code_offset + parts.code.size();

  Elf64_Ehdr elf{};
  std::memcpy(elf.e_ident, ELFMAG, SELFMAG);
  elf.e_ident[EI_CLASS] = ELFCLASS64;
  elf.e_ident[EI_DATA] = ELFDATA2LSB;
  elf.e_type = ET_DYN;
  elf.e_machine = EM_X86_64;
  elf.e_entry = parts.entry;
  elf.e_phoff = sizeof(elf);
  elf.e_phentsize = sizeof(Elf64_Phdr);
  elf.e_phnum = 3;
  if (parts.has_sections) {
    elf.e_shoff = sections_offset;
    elf.e_shentsize = sizeof(Elf64_Shdr);
    elf.e_shnum = parts.code.empty() ? 4 : 5;
    elf.e_shstrndx = 3;
  }
  std::string out;
  append(out, elf);
  Elf64_Phdr code{};
  code.p_type = PT_LOAD;
  code.p_flags = PF_R | PF_X;
  code.p_vaddr = kCodeAddress;
  code.p_memsz = parts.code_bytes;
  code.p_offset = code_offset;
  code.p_filesz = parts.code.size();
  append(out, code);
  Elf64_Phdr frames{};
  frames.p_type = PT_LOAD;
  frames.p_flags = PF_R;
  frames.p_offset = eh_offset;
  frames.p_vaddr = kEhFrameAddress - header.size();
  frames.p_filesz = frames.p_memsz = eh_segment.size();
  append(out, frames);
  frames.p_type = PT_GNU_EH_FRAME;
  append(out, frames);
  out += eh_segment + parts.debug_frame;
  out += kNames;
  out += parts.code;
  if (!parts.has_sections) return out;
  const auto section = [&](uint32_t name, uint64_t address, uint64_t offset, uint64_t size,
                           uint64_t flags = 0) {
    Elf64_Shdr entry{};
    entry.sh_name = name;
    entry.sh_type = name == 0 ? SHT_NULL : SHT_PROGBITS;
    entry.sh_flags = flags;
    entry.sh_addr = address;
    entry.sh_offset = offset;
    entry.sh_size = size;
    append(out, entry);
  };
  section(0, 0, 0, 0);
  section(1, kEhFrameAddress, eh_offset + header.size(), parts.eh_frame.size());
  section(11, 0, debug_offset, parts.debug_frame.size());
  section(24, 0, names_offset, kNames.size());
  if (!parts.code.empty())
    section(34, kCodeAddress, code_offset, parts.code.size(), SHF_ALLOC | SHF_EXECINSTR);
  return out;
}

std::shared_ptr<const ElfFile> parse_elf(const ElfParts& parts) {
  auto file = ElfFile::parse(InputFile::from_bytes(make_elf(parts)));
  if (!file) return nullptr;
  return *file;
}

}  // namespace vesta::testing
