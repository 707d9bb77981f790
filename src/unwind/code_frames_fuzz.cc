#include <cstdlib>
#include <string>

#include "unwind/test_elf.h"
#include "unwind/unwind_table.h"

// Whatever bytes are taken for code, the table that comes out is valid, and nothing in it is said
// to be more certain than what instructions can tell.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vesta::testing::ElfParts parts;
  parts.code.assign(reinterpret_cast<const char*>(data), size);
  parts.code_bytes = size + 1;
  const auto file = vesta::testing::parse_elf(parts);
  if (file == nullptr) std::abort();
  const auto table = vesta::build_unwind_table(*file);
  if (!table) return 0;
  if (!vesta::validate(*table).ok()) std::abort();
  for (uint64_t offset = 0; offset < size; ++offset) {
    const vesta_unwind_rule rule = vesta::rule_at(*table, vesta::testing::kCodeAddress + offset);
    const bool is_checked = rule.trust == VESTA_TRUST_DECODED ||
                            rule.trust == VESTA_TRUST_GUESSED || rule.cfa_kind == VESTA_CFA_NONE ||
                            rule.cfa_kind == VESTA_CFA_SIGNAL;
    if (!is_checked) std::abort();
    if (rule.cfa_kind == VESTA_CFA_SP && rule.cfa_offset < 8) std::abort();
  }
  return 0;
}
