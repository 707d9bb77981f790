#include <cstdlib>

#include "agent/process/elf_head.h"

// Any bytes are read within their bounds; the full reader agrees where segments are.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto head =
      vesta::agent::read_elf_head([bytes](uint64_t offset, std::span<char> out) -> size_t {
        return offset >= bytes.size() ? 0 : bytes.substr(offset).copy(out.data(), out.size());
      });
  const auto full = vesta::ElfFile::parse(vesta::InputFile::from_bytes(std::string(bytes)));
  if (full && !head) std::abort();
  if (!head) return 0;
  for (const vesta::agent::ElfHead::Segment& segment : head->code) {
    const auto address = head->address_of_offset(segment.offset);
    // A segment that wraps around the address space is read by neither in the same way.
    if (segment.offset + segment.file_bytes > UINT64_MAX / 2) return 0;
    if (full && head->code.size() < 64 && (*full)->address_of_offset(segment.offset) != address) {
      std::abort();
    }
  }
  return 0;
}
