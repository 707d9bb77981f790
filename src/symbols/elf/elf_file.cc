#include "symbols/elf/elf_file.h"

#include <fmt/format.h>
#include <libdeflate.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/hex.h"

namespace vesta {
namespace {

// ch_type of zstd; Debian 12's elf.h is older than the assignment.
constexpr uint32_t kElfCompressZstd = 2;

// No section packs better: deflate cannot, and debug information is far from it. Without this, a
// small file could ask for gigabytes before a byte of it is checked.
constexpr uint64_t kMaxCompressionRatio = 1100;

// A header or other plain struct at an offset, copied: files do not promise alignment.
template <class T>
bool read_at(std::string_view bytes, uint64_t offset, T& out) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(&out, bytes.data() + offset, sizeof(T));
  return true;
}

// What of [offset, offset + size) lies inside the file: all of it, or nothing.
std::string_view slice(std::string_view bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return {};
  return bytes.substr(offset, size);
}

std::string_view c_string(std::string_view bytes, uint64_t offset) {
  if (offset >= bytes.size()) return {};
  bytes.remove_prefix(offset);
  const size_t end = bytes.find('\0');
  return end == std::string_view::npos ? std::string_view() : bytes.substr(0, end);
}

// The descriptor of the GNU build-id note among the notes in `notes`.
std::string_view build_id_note(std::string_view notes) {
  Elf64_Nhdr header;
  while (read_at(notes, 0, header)) {
    const uint64_t name_space = (uint64_t{header.n_namesz} + 3) & ~3ULL;
    const uint64_t desc_space = (uint64_t{header.n_descsz} + 3) & ~3ULL;
    const uint64_t total = sizeof(header) + name_space + desc_space;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        slice(notes, sizeof(header), 4) == std::string_view("GNU\0", 4)) {
      return slice(notes, sizeof(header) + name_space, header.n_descsz);
    }
    if (total >= notes.size()) break;
    notes.remove_prefix(total);
  }
  return {};
}

Result<std::string_view> unpack_zlib(std::string_view packed, uint64_t size, std::string& storage) {
  storage.resize(size);
  libdeflate_decompressor* inflater = libdeflate_alloc_decompressor();
  if (inflater == nullptr) return Error{ErrorCode::kLimit, "out of memory", {}};
  const libdeflate_result result = libdeflate_zlib_decompress(
      inflater, packed.data(), packed.size(), storage.data(), storage.size(), nullptr);
  libdeflate_free_decompressor(inflater);
  if (result != LIBDEFLATE_SUCCESS) {
    return Error{ErrorCode::kInvalidInput, "damaged zlib data in a compressed section", {}};
  }
  return std::string_view(storage);
}

Result<std::string_view> unpack_zstd(std::string_view packed, uint64_t size, std::string& storage) {
  storage.resize(size);
  const size_t got = ZSTD_decompress(storage.data(), size, packed.data(), packed.size());
  if (ZSTD_isError(got) != 0 || got != size) {
    return Error{ErrorCode::kInvalidInput, "damaged zstd data in a compressed section", {}};
  }
  return std::string_view(storage);
}

}  // namespace

std::string BuildId::hex() const {
  return to_hex(bytes);
}

const ElfFile::Limits& ElfFile::default_limits() {
  static const Limits kLimits;
  return kLimits;
}

Result<std::shared_ptr<const ElfFile>> ElfFile::open(const std::string& path,
                                                     const Limits& limits) {
  VESTA_ASSIGN(InputFile file, InputFile::open(path, limits.max_file_bytes));
  return parse(std::move(file), limits);
}

Result<std::shared_ptr<const ElfFile>> ElfFile::parse(InputFile file, const Limits& limits) {
  std::shared_ptr<ElfFile> elf(new ElfFile(std::move(file)));
  VESTA_TRY(elf->read(limits));
  return std::shared_ptr<const ElfFile>(std::move(elf));
}

Status ElfFile::read(const Limits& limits) {
  max_unpacked_bytes_ = limits.max_unpacked_bytes;
  Elf64_Ehdr header;
  if (!read_at(bytes(), 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return Error{ErrorCode::kInvalidInput, "not an ELF file", {}};
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return Error{ErrorCode::kUnsupported, "not a 64-bit little-endian ELF file", {}};
  }
  type_ = header.e_type;
  machine_ = header.e_machine;
  entry_ = header.e_entry;
  read_segments(header);
  VESTA_TRY(read_sections(header, limits));
  find_build_id();
  return {};
}

void ElfFile::read_segments(const Elf64_Ehdr& header) {
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return;
  segments_.reserve(header.e_phnum);
  for (uint32_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(bytes(), header.e_phoff + uint64_t{i} * sizeof(segment), segment)) return;
    segments_.push_back(segment);
  }
}

Status ElfFile::read_sections(const Elf64_Ehdr& header, const Limits& limits) {
  // Stripped to the bone or cut off: segments are enough to go on with.
  if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr)) return {};
  Elf64_Shdr first;
  if (!read_at(bytes(), header.e_shoff, first)) return {};
  // More sections than fit into 16 bits are counted in the first header.
  const uint64_t count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
  if (count > limits.max_sections) {
    return Error{
        ErrorCode::kLimit,
        fmt::format("an ELF file with {} sections (limit: {})", count, limits.max_sections),
        {}};
  }
  const uint64_t names_index = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
  std::vector<uint32_t> name_offsets;
  for (uint64_t i = 0; i < count; ++i) {
    Elf64_Shdr raw;
    if (!read_at(bytes(), header.e_shoff + i * sizeof(raw), raw)) break;
    ElfSection section;
    section.type = raw.sh_type;
    section.flags = raw.sh_flags;
    section.address = raw.sh_addr;
    section.offset = raw.sh_offset;
    section.size = raw.sh_size;
    section.link = raw.sh_link;
    section.entry_size = raw.sh_entsize;
    if (raw.sh_type != SHT_NOBITS) section.bytes = slice(bytes(), raw.sh_offset, raw.sh_size);
    sections_.push_back(section);
    name_offsets.push_back(raw.sh_name);
  }
  if (names_index < sections_.size()) {
    const std::string_view names = sections_[names_index].bytes;
    for (size_t i = 0; i < sections_.size(); ++i)
      sections_[i].name = c_string(names, name_offsets[i]);
  }
  return {};
}

void ElfFile::find_build_id() {
  const auto accept = [this](std::string_view id) {
    if (id.size() < 8 || id.size() > 64) return false;
    build_id_.bytes = id;
    return true;
  };
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type == PT_NOTE &&
        accept(build_id_note(slice(bytes(), segment.p_offset, segment.p_filesz)))) {
      return;
    }
  }
  // Separate debug files keep the note section, with segments that point nowhere.
  for (const ElfSection& section : sections_) {
    if (section.type == SHT_NOTE && accept(build_id_note(section.bytes))) return;
  }
}

const ElfSection* ElfFile::section(std::string_view name) const {
  for (const ElfSection& section : sections_) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

const ElfSection* ElfFile::section(size_t index) const {
  return index < sections_.size() ? &sections_[index] : nullptr;
}

Result<std::string_view> ElfFile::contents(const ElfSection& section, std::string& storage,
                                           uint64_t max_unpacked_bytes) const {
  const uint64_t limit = std::min(max_unpacked_bytes, max_unpacked_bytes_);
  const auto check = [&](uint64_t size) -> Status {
    if (size / kMaxCompressionRatio > section.bytes.size()) {
      return Error{ErrorCode::kInvalidInput,
                   fmt::format("{} cannot decompress to {} bytes", section.name, size),
                   {}};
    }
    if (size > limit) {
      return Error{ErrorCode::kLimit,
                   fmt::format("a compressed section of {} bytes (limit: {})", size, limit),
                   {}};
    }
    return {};
  };
  if (section.name.starts_with(".zdebug_")) {
    // Before SHF_COMPRESSED: "ZLIB", the size in big-endian order, then the data.
    if (!section.bytes.starts_with("ZLIB") || section.bytes.size() < 12) {
      return Error{
          ErrorCode::kInvalidInput, fmt::format("{} has no ZLIB header", section.name), {}};
    }
    uint64_t size = 0;
    for (size_t i = 4; i < 12; ++i) size = size << 8 | static_cast<uint8_t>(section.bytes[i]);
    VESTA_TRY(check(size));
    return unpack_zlib(section.bytes.substr(12), size, storage);
  }
  if (!section.is_compressed()) return section.bytes;
  Elf64_Chdr header;
  if (!read_at(section.bytes, 0, header)) {
    return Error{
        ErrorCode::kInvalidInput, fmt::format("{} is too short for its header", section.name), {}};
  }
  VESTA_TRY(check(header.ch_size));
  const std::string_view packed = section.bytes.substr(sizeof(header));
  if (header.ch_type == ELFCOMPRESS_ZLIB) return unpack_zlib(packed, header.ch_size, storage);
  if (header.ch_type == kElfCompressZstd) return unpack_zstd(packed, header.ch_size, storage);
  return Error{ErrorCode::kUnsupported,
               fmt::format("{} has an unknown compression ({})", section.name, header.ch_type),
               {}};
}

std::string_view ElfFile::bytes_at(uint64_t address) const {
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    const uint64_t inside = address - segment.p_vaddr;
    if (inside >= segment.p_filesz) continue;
    const std::string_view stored = slice(bytes(), segment.p_offset, segment.p_filesz);
    if (!stored.empty()) return stored.substr(inside);
  }
  return {};
}

std::optional<uint64_t> ElfFile::address_of_offset(uint64_t offset) const {
  // The kernel maps whole pages, so a segment also covers what is on its first and last page.
  constexpr uint64_t kPage = 4096;
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uint64_t start = segment.p_offset & ~(kPage - 1);
    const uint64_t end = segment.p_offset + segment.p_filesz;
    if (end < segment.p_offset) continue;
    if (offset >= start && offset < ((end + kPage - 1) & ~(kPage - 1))) {
      return segment.p_vaddr - segment.p_offset + offset;
    }
  }
  return std::nullopt;
}

ElfFile::DebugLink ElfFile::debug_link() const {
  const ElfSection* link = section(".gnu_debuglink");
  if (link == nullptr) return {};
  const std::string_view name = c_string(link->bytes, 0);
  DebugLink out;
  if (name.empty() || !read_at(link->bytes, (name.size() + 1 + 3) & ~size_t{3}, out.crc)) return {};
  out.file = name;
  return out;
}

}  // namespace vesta
