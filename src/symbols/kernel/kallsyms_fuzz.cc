#include <cstdint>
#include <cstdlib>

#include "symbols/kernel/symbol_table.h"

// The same table whatever pieces the text comes in, and every answer lies at or before its
// question.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  vesta::KernelSymbolTable whole;
  whole.feed(text);
  whole.finish();
  vesta::KernelSymbolTable pieces;
  for (size_t at = 0; at < size; at += 7) pieces.feed(text.substr(at, 7));
  pieces.finish();
  if (whole.size() != pieces.size() || whole.bad_lines() != pieces.bad_lines()) std::abort();
  for (const uint64_t address : {uint64_t{0}, uint64_t{0x1234}, uint64_t{0xffffffff81000010},
                                 uint64_t{0xffffffffc0201000}, UINT64_MAX}) {
    const auto found = whole.lookup(address);
    const auto again = pieces.lookup(address);
    if (found.has_value() != again.has_value()) std::abort();
    if (!found) continue;
    if (found->start > address || found->name.empty() || found->name != again->name) std::abort();
  }
  return 0;
}
