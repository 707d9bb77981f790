#include "agent/process/elf_head.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace vesta::agent {
namespace {

constexpr size_t kMaxSegments = 1024;
constexpr size_t kMaxCodeSegments = 64;
constexpr size_t kMaxNoteBytes = 16 * 1024;
constexpr size_t kMaxNoteSegments = 16;
constexpr uint64_t kPage = 4096;

bool is_build_id_size(uint32_t size) {
  return size >= 8 && size <= 64;
}

// The GNU build id among the notes of one segment; empty when there is none.
std::string_view find_build_id(std::string_view notes) {
  Elf64_Nhdr header{};
  while (notes.size() >= sizeof(header)) {
    std::memcpy(&header, notes.data(), sizeof(header));
    notes.remove_prefix(sizeof(header));
    const uint64_t name = (uint64_t{header.n_namesz} + 3) & ~3ULL;
    const uint64_t size = name + ((uint64_t{header.n_descsz} + 3) & ~3ULL);
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        is_build_id_size(header.n_descsz) && name + header.n_descsz <= notes.size() &&
        notes.starts_with(std::string_view("GNU\0", 4))) {
      return notes.substr(name, header.n_descsz);
    }
    if (size > notes.size()) break;
    notes.remove_prefix(size);
  }
  return {};
}

}  // namespace

std::optional<uint64_t> ElfHead::address_of_offset(uint64_t offset) const {
  for (const Segment& segment : code) {
    // The kernel maps whole pages.
    const uint64_t start = segment.offset & ~(kPage - 1);
    const uint64_t end = segment.offset + segment.file_bytes;
    if (end < segment.offset || end > UINT64_MAX - kPage) continue;
    if (offset >= start && offset < ((end + kPage - 1) & ~(kPage - 1))) {
      return segment.address - segment.offset + offset;
    }
  }
  return std::nullopt;
}

std::optional<ElfHead> read_elf_head(const ReadAt& read_at) {
  // Headers, program headers and the build id are on the first page of nearly every file.
  std::array<char, kPage> page{};
  const size_t have = read_at(0, page);
  const auto read = [&](uint64_t offset, std::span<char> out) -> size_t {
    if (out.empty()) return 0;
    if (offset <= have && have - offset >= out.size()) {
      std::memcpy(out.data(), page.data() + offset, out.size());
      return out.size();
    }
    return read_at(offset, out);
  };
  Elf64_Ehdr header{};
  if (have < sizeof(header)) return std::nullopt;
  std::memcpy(&header, page.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return std::nullopt;
  }
  ElfHead out;
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return out;
  std::vector<Elf64_Phdr> segments(std::min<size_t>(header.e_phnum, kMaxSegments));
  const size_t got = read(header.e_phoff, {reinterpret_cast<char*>(segments.data()),
                                           segments.size() * sizeof(Elf64_Phdr)});
  segments.resize(got / sizeof(Elf64_Phdr));
  size_t note_segments = 0;
  std::vector<char> notes;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
        out.code.size() < kMaxCodeSegments) {
      out.code.push_back({segment.p_offset, segment.p_filesz, segment.p_vaddr});
    }
    if (segment.p_type == PT_NOTE && out.build_id.empty() && ++note_segments <= kMaxNoteSegments) {
      notes.resize(std::min<uint64_t>(segment.p_filesz, kMaxNoteBytes));
      const size_t size = read(segment.p_offset, notes);
      out.build_id.bytes = find_build_id({notes.data(), std::min(size, notes.size())});
    }
  }
  return out;
}

size_t read_at(int fd, uint64_t offset, std::span<char> buffer) {
  size_t done = 0;
  while (done < buffer.size() && offset + done <= INT64_MAX) {
    const ssize_t got =
        ::pread(fd, buffer.data() + done, buffer.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

std::optional<ElfHead> read_elf_head(int fd) {
  return read_elf_head([fd](uint64_t offset, std::span<char> buffer) -> size_t {
    return read_at(fd, offset, buffer);
  });
}

}  // namespace vesta::agent
