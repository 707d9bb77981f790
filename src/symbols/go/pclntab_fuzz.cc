#include <cstdlib>

#include "symbols/go/go_symbols.h"

// Any bytes, as a program or as the table itself: every question gets an answer within bounds.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (auto table = vesta::Pclntab::parse(bytes)) {
    vesta::PclntabBudget budget;
    for (size_t i = 0; i < table->function_count() && i < 64; ++i) {
      const auto function = table->function(i);
      if (!function) continue;
      table->name(function->name_offset);
      table->file(
          *function,
          table->value_at(*function, function->pcfile, function->entry, budget).value_or(0));
      table->find(function->entry);
    }
  }
  auto elf = vesta::ElfFile::parse(vesta::InputFile::from_bytes(bytes));
  if (!elf) return 0;
  const auto symbols = vesta::GoSymbols::open(*elf);
  if (!symbols) return 0;
  int functions = 0;
  (*symbols)->for_each_function([&](const vesta::GoFunction& function) {
    std::vector<vesta::GoStackDelta> rows;
    if ((*symbols)->stack_deltas(function, rows).ok() && rows.empty()) std::abort();
    for (const uint64_t offset : {0, 16, 33}) {
      std::vector<vesta::SourceFrame> frames;
      if (!(*symbols)->lookup(function.entry + offset, frames)) continue;
      if (frames.empty() || frames.size() > 129) std::abort();
      for (const auto& frame : frames) {
        if (frame.name.empty()) std::abort();
      }
    }
    return ++functions < 64;
  });
  return 0;
}
