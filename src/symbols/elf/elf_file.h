// A 64-bit little-endian ELF file, checked as it is opened: every span that this class hands out
// lies inside the file, whatever the headers say. Owns its bytes; read-only, so any number of
// threads may use one. Sections are looked up by name; compressed ones are unpacked on request.
#pragma once

#include <elf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace vesta {

// A build id as raw bytes, 8 to 64 of them; empty when a file has none.
struct BuildId {
  std::string bytes;
  bool empty() const { return bytes.empty(); }
  std::string hex() const;
  friend auto operator<=>(const BuildId&, const BuildId&) = default;
};

struct ElfSection {
  std::string_view name;
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t address = 0;
  uint64_t offset = 0;  // in the file
  uint64_t size = 0;    // as the header says; bytes in memory
  uint32_t link = 0;
  uint64_t entry_size = 0;
  std::string_view bytes;  // as stored; empty for NOBITS and for what lies outside the file
  bool is_compressed() const { return (flags & SHF_COMPRESSED) != 0; }
};

class ElfFile {
 public:
  struct Limits {
    uint64_t max_file_bytes = 8ULL << 30;
    uint32_t max_sections = 100'000;
    uint64_t max_unpacked_bytes = 4ULL << 30;  // of one compressed section
  };

  // Maps the file. kInvalidInput when it is no ELF file of a kind that we can read.
  static Result<std::shared_ptr<const ElfFile>> open(const std::string& path,
                                                     const Limits& limits = default_limits());
  static Result<std::shared_ptr<const ElfFile>> parse(InputFile file,
                                                      const Limits& limits = default_limits());
  static const Limits& default_limits();

  uint16_t type() const { return type_; }        // ET_EXEC, ET_DYN …
  uint16_t machine() const { return machine_; }  // EM_X86_64 …
  uint64_t entry() const { return entry_; }
  const BuildId& build_id() const { return build_id_; }
  std::string_view bytes() const { return file_.bytes(); }
  // See InputFile.
  void release_pages() const { file_.release_pages(); }

  std::span<const Elf64_Phdr> segments() const { return segments_; }
  std::span<const ElfSection> sections() const { return sections_; }
  // Null when there is none. The first of that name.
  const ElfSection* section(std::string_view name) const;
  const ElfSection* section(size_t index) const;

  // The contents of a section, unpacked if need be (zlib, zstd, and the old .zdebug_ form).
  // Unpacked bytes are put into `storage`, which must outlive the view. kLimit when there are more
  // than `max_unpacked_bytes` or than the file's limits allow.
  Result<std::string_view> contents(const ElfSection& section, std::string& storage,
                                    uint64_t max_unpacked_bytes = ~0ULL) const;

  // Bytes of the file that are loaded at an address of the file's own address space; empty when
  // there are none. At most until the end of the segment.
  std::string_view bytes_at(uint64_t address) const;

  // Address in the file's own address space of an offset in the file, by the executable segments;
  // nothing when no segment covers it. What turns a mapping of a process into a bias:
  //   bias = mapping.start - *address_of_offset(mapping.file_offset)
  std::optional<uint64_t> address_of_offset(uint64_t offset) const;

  // Name and checksum in .gnu_debuglink; empty name when there is none.
  struct DebugLink {
    std::string_view file;
    uint32_t crc = 0;
  };
  DebugLink debug_link() const;

 private:
  explicit ElfFile(InputFile file) : file_(std::move(file)) {}
  Status read(const Limits& limits);
  void read_segments(const Elf64_Ehdr& header);
  Status read_sections(const Elf64_Ehdr& header, const Limits& limits);
  void find_build_id();

  InputFile file_;
  uint64_t max_unpacked_bytes_ = 0;
  uint16_t type_ = 0;
  uint16_t machine_ = 0;
  uint64_t entry_ = 0;
  BuildId build_id_;
  std::vector<Elf64_Phdr> segments_;
  std::vector<ElfSection> sections_;
};

}  // namespace vesta
