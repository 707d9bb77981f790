// Builds the bytes of a tiny Go program for tests and seeds: one function `main.outer` at 0x401000
// that has `main.mid` and `main.inner` inlined, one `main.leaf` after it. Not for production.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "symbols/go/pclntab.h"

namespace vesta::go_test {

inline constexpr uint64_t kText = 0x401000;
inline constexpr uint64_t kRodata = 0x500000;
inline constexpr uint64_t kData = 0x600000;
inline constexpr uint64_t kOuterBytes = 0x40;
inline constexpr uint64_t kLeafBytes = 0x20;

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <class T>
void put_at(std::string& out, size_t offset, T value) {
  std::memcpy(out.data() + offset, &value, sizeof(value));
}

inline void put_varint(std::string& out, uint32_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

// A pc-value table from (value, bytes of code) pairs.
inline std::string pc_values(std::initializer_list<std::pair<int32_t, uint32_t>> rows) {
  std::string out;
  int32_t last = -1;
  for (const auto& [value, bytes] : rows) {
    const int32_t delta = value - last;
    put_varint(out, (static_cast<uint32_t>(delta) << 1) ^ static_cast<uint32_t>(delta >> 31));
    put_varint(out, bytes);
    last = value;
  }
  out.push_back('\0');
  return out;
}

struct Table {
  std::string pclntab;
  std::string funcdata;  // go:func.*
  uint64_t names_offset = 0;
};

// At 0x00-0x0f main.outer, 0x10-0x1f main.mid in it, 0x20-0x2f main.inner in main.mid, then outer.
inline Table make_table(PclntabVersion version) {
  const bool modern = version >= PclntabVersion::kGo20;
  const bool has_text = version >= PclntabVersion::kGo18;
  const bool parts = version >= PclntabVersion::kGo16;

  std::string pieces(1, '\0');
  const auto piece = [&](const std::string& bytes) {
    const auto offset = static_cast<uint32_t>(pieces.size());
    pieces += bytes;
    return offset;
  };
  const std::string names = std::string("main.outer\0main.leaf\0main.mid\0main.inner\0", 41);
  const std::string files = std::string("/src/main.go\0/src/asm.s\0", 24);
  const uint32_t outer_sp = piece(pc_values({{0, 4}, {24, 0x38}, {0, 4}}));
  const uint32_t outer_file = piece(pc_values({{0, kOuterBytes}}));
  const uint32_t outer_line = piece(pc_values({{10, 16}, {21, 16}, {31, 16}, {12, 16}}));
  const uint32_t outer_inline = piece(pc_values({{-1, 16}, {0, 16}, {1, 16}, {-1, 16}}));
  const uint32_t leaf_sp = piece(pc_values({{0, kLeafBytes}}));
  const uint32_t leaf_file = piece(pc_values({{1, kLeafBytes}}));
  const uint32_t leaf_line = piece(pc_values({{5, kLeafBytes}}));

  Table table;
  const auto inlined = [&](int32_t name, int32_t parent, int32_t start) {
    if (modern) {
      for (const int32_t word : {0, name, parent, start}) put(table.funcdata, word);
    } else {
      for (const int32_t word : {0, 0, 0, name, parent}) put(table.funcdata, word);
    }
  };
  inlined(21, 0x00, 20);  // main.mid, called from outer
  inlined(30, 0x10, 30);  // main.inner, called from mid

  std::string& out = table.pclntab;
  const uint32_t magics[] = {0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1};
  put(out, magics[static_cast<size_t>(version)]);
  out += std::string("\0\0\1\10", 4);
  put(out, uint64_t{2});
  size_t offsets = out.size();
  if (parts) {
    put(out, uint64_t{2});
    if (has_text) put(out, kText);
    offsets = out.size();
    out.append(5 * 8, '\0');
  }
  // Before 1.16 everything is counted from the beginning, and the function table comes first.
  const size_t functions = out.size();
  std::string tail;
  const auto word = [&](std::string& to, uint64_t value) {
    has_text ? put(to, static_cast<uint32_t>(value)) : put(to, value);
  };
  const size_t table_bytes = has_text ? 5 * 4 : 5 * 8;
  const size_t entry_base = functions + table_bytes + (parts ? 0 : 4);
  const uint64_t base = parts ? functions : 0;
  const uint64_t text_base = has_text ? 0 : kText;

  struct Source {
    uint64_t entry;
    int32_t name;
    uint32_t sp, file, line, index, tree, start;
    uint8_t flag;
  };
  const Source sources[] = {
      {0, 0, outer_sp, outer_file, outer_line, outer_inline, 0, 9, 1},
      {kOuterBytes, 11, leaf_sp, leaf_file, leaf_line, 0, UINT32_MAX, 4, 4 | 2},
  };
  std::string bodies;
  size_t body_offsets[2] = {};
  // Where pieces and names will lie, in the layout that has no parts.
  const size_t body_bytes =
      (has_text ? 4 : 8) + 28 + (parts ? 4 : 0) + (modern ? 4 : 0) + 4 + 7 * 4;
  const size_t pieces_at = entry_base + 2 * body_bytes;
  const size_t names_at = pieces_at + pieces.size();
  const size_t files_at = names_at + names.size();
  const size_t units_at = files_at + files.size();
  const uint32_t piece_shift = parts ? 0 : static_cast<uint32_t>(pieces_at);
  const uint32_t name_shift = parts ? 0 : static_cast<uint32_t>(names_at);
  for (size_t i = 0; i < 2; ++i) {
    const Source& s = sources[i];
    body_offsets[i] = entry_base + bodies.size() - base;
    word(bodies, text_base + s.entry);
    put(bodies, static_cast<int32_t>(s.name + name_shift));
    put(bodies, int32_t{0});
    put(bodies, uint32_t{0});
    put(bodies, s.sp + piece_shift);
    put(bodies, s.file + piece_shift);
    put(bodies, s.line + piece_shift);
    put(bodies, uint32_t{3});
    if (parts) put(bodies, uint32_t{0});
    if (modern) put(bodies, s.start);
    bodies.push_back('\0');
    bodies.push_back(parts ? static_cast<char>(s.flag) : '\0');
    bodies.push_back('\0');
    bodies.push_back('\4');
    for (const uint32_t pcdata : {0U, 0U, s.index}) put(bodies, pcdata);
    for (const uint32_t data : {UINT32_MAX, UINT32_MAX, UINT32_MAX, s.tree}) put(bodies, data);
  }
  word(out, text_base);
  word(out, body_offsets[0]);
  word(out, text_base + kOuterBytes);
  word(out, body_offsets[1]);
  word(out, text_base + kOuterBytes + kLeafBytes);
  if (!parts) put(out, static_cast<uint32_t>(units_at));
  out += bodies + pieces + names + files;
  const uint32_t file_shift = parts ? 0 : static_cast<uint32_t>(files_at);
  put(out, uint32_t{0} + file_shift);
  put(out, uint32_t{13} + file_shift);
  table.names_offset = names_at;
  if (parts) {
    const uint64_t where[] = {names_at, units_at, files_at, pieces_at, functions};
    for (size_t i = 0; i < 5; ++i) put_at(out, offsets + i * 8, where[i]);
  }
  return table;
}

// An ELF file without section headers that holds the table, and a moduledata that points to it. The
// code is at `text_address`; elsewhere than at kText, tables before 1.18 have no address of it.
inline std::string make_program(PclntabVersion version, uint64_t text_address = kText) {
  const Table table = make_table(version);
  const std::string text(kOuterBytes + kLeafBytes, '\xcc');
  std::string rodata = table.pclntab;
  rodata.resize((rodata.size() + 31) / 32 * 32);
  const uint64_t funcdata = kRodata + rodata.size();
  rodata += table.funcdata;
  std::string data(42 * 8, '\0');
  put_at(data, 8, kRodata);
  put_at(data, 16, kRodata + table.names_offset);
  put_at(data, 8 + size_t{22} * 8, kText);
  put_at(data, 8 + size_t{version == PclntabVersion::kGo18 ? 38U : 40U} * 8, funcdata);

  std::string file;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_entry = kText;
  header.e_phoff = sizeof(header);
  header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 3;
  put(file, header);
  uint64_t offset = sizeof(header) + 3 * sizeof(Elf64_Phdr);
  const auto segment = [&](uint64_t address, const std::string& bytes, uint32_t flags) {
    Elf64_Phdr phdr{};
    phdr.p_type = PT_LOAD;
    phdr.p_flags = flags;
    phdr.p_offset = offset;
    phdr.p_vaddr = phdr.p_paddr = address;
    phdr.p_filesz = phdr.p_memsz = bytes.size();
    put(file, phdr);
    offset += bytes.size();
  };
  segment(text_address, text, PF_R | PF_X);
  segment(kRodata, rodata, PF_R);
  segment(kData, data, PF_R | PF_W);
  return file + text + rodata + data;
}

}  // namespace vesta::go_test
