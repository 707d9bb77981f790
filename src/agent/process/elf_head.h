// The little of an ELF file that placing a mapping needs, its build id and its executable segments,
// read with a few small reads instead of mapping the file. Pure but for the reader that is passed
// in; the file may be anything: bounded reads, bounded memory. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "symbols/elf/elf_file.h"

namespace vesta::agent {

struct ElfHead {
  struct Segment {
    uint64_t offset = 0;
    uint64_t file_bytes = 0;
    uint64_t address = 0;
  };
  BuildId build_id;
  std::vector<Segment> code;  // executable PT_LOAD segments

  // As ElfFile::address_of_offset(): where the byte at an offset of the file is, in the file's own
  // address space.
  std::optional<uint64_t> address_of_offset(uint64_t offset) const;
};

// Fills the buffer from an offset of the file; returns how much there was.
using ReadAt = std::function<size_t(uint64_t offset, std::span<char> buffer)>;
// The same for an open file.
size_t read_at(int fd, uint64_t offset, std::span<char> buffer);

// Nothing when it is no 64-bit little-endian ELF file.
std::optional<ElfHead> read_elf_head(const ReadAt& read_at);
std::optional<ElfHead> read_elf_head(int fd);

}  // namespace vesta::agent
