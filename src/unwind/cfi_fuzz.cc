#include <cstdlib>
#include <string>

#include "unwind/test_elf.h"
#include "unwind/unwind_table.h"

// Whatever call frame information says, the table that comes out is valid and has a rule (perhaps
// the empty one) for every address. The first byte says where the rest is put.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string frames(reinterpret_cast<const char*>(data) + 1, size - 1);
  vesta::testing::ElfParts parts;
  parts.code_bytes = 4 << 20;
  parts.has_sections = (data[0] & 1) == 0;
  if ((data[0] & 2) != 0) {
    // Both, to have two sources speak of the same code.
    parts.debug_frame = frames.substr(frames.size() / 2);
    parts.eh_frame = frames.substr(0, frames.size() / 2);
  } else if ((data[0] & 4) != 0) {
    parts.debug_frame = frames;
  } else {
    parts.eh_frame = frames;
  }
  const auto file = vesta::testing::parse_elf(parts);
  if (file == nullptr) std::abort();
  const auto table = vesta::build_unwind_table(*file);
  if (!table) return 0;
  if (!vesta::validate(*table).ok()) std::abort();
  for (uint64_t address = 0; address < 6 << 20; address += 4093) vesta::rule_at(*table, address);
  return 0;
}
