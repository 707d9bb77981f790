#include "unwind/entry_frame.h"

#include <cstring>
#include <string_view>

namespace vesta {
namespace {

// Start code is short (glibc's ld.so: 63 bytes with what follows the first call), and functions
// with information of their own take precedence over this.
constexpr uint64_t kEntryBytes = 128;

class EntrySource final : public FunctionSource {
 public:
  explicit EntrySource(uint64_t entry) : entry_(entry) {}

  size_t size() const override { return 1; }
  uint64_t start(size_t /*index*/) const override { return entry_; }
  uint64_t end(size_t /*index*/) const override { return entry_ + kEntryBytes; }
  bool begins_early(size_t /*index*/) const override { return false; }
  void write_rows(size_t /*index*/, uint64_t first, uint64_t /*limit*/,
                  RowWriter& rows) const override {
    vesta_unwind_rule rule{};
    rule.cfa_kind = VESTA_CFA_END;
    rows.add(first, rule);
  }

 private:
  uint64_t entry_;
};

// Linkers set an entry point in libraries, too, where it means nothing. What is started needs an
// interpreter, or nobody: a static program, the dynamic linker itself.
bool is_started(const ElfFile& file) {
  std::string_view dynamic;
  for (const Elf64_Phdr& segment : file.segments()) {
    if (segment.p_type == PT_INTERP) return true;
    if (segment.p_type == PT_DYNAMIC)
      dynamic = file.bytes_at(segment.p_vaddr).substr(0, segment.p_filesz);
  }
  for (; dynamic.size() >= sizeof(Elf64_Dyn); dynamic.remove_prefix(sizeof(Elf64_Dyn))) {
    Elf64_Dyn entry;
    std::memcpy(&entry, dynamic.data(), sizeof(entry));
    if (entry.d_tag == DT_NEEDED) return false;
    if (entry.d_tag == DT_NULL) break;
  }
  return true;
}

}  // namespace

std::unique_ptr<FunctionSource> entry_source(const ElfFile& file) {
  if (!is_started(file)) return nullptr;
  const uint64_t entry = file.entry();
  for (const Elf64_Phdr& segment : file.segments()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    if (entry < segment.p_vaddr || entry - segment.p_vaddr >= segment.p_memsz) continue;
    if (segment.p_memsz - (entry - segment.p_vaddr) < kEntryBytes) return nullptr;
    return std::make_unique<EntrySource>(entry);
  }
  return nullptr;
}

}  // namespace vesta
