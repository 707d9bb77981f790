#include "unwind/function_starts.h"

#include <algorithm>
#include <limits>

#include "unwind/file_functions.h"
#include "unwind/unwind_table.h"

namespace vesta {

FunctionStarts FunctionStarts::of(const ElfFile& file) {
  FunctionStarts out;
  const auto code = code_range(file);
  if (file.machine() != EM_X86_64 || !code) return out;
  const auto functions = FileFunctions::read(file, nullptr);
  if (!functions.ok()) return out;
  out.base_ = code->low;
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  for (const CodeRange& range : (*functions)->ranges()) {
    if (range.low < out.base_ || range.low - out.base_ > kMost) continue;
    out.functions_.push_back({static_cast<uint32_t>(range.low - out.base_),
                              static_cast<uint32_t>(std::min(range.size(), kMost))});
  }
  out.functions_.shrink_to_fit();
  return out;
}

std::optional<uint64_t> FunctionStarts::find(uint64_t elf_address) const {
  const uint64_t offset = elf_address - base_;
  if (elf_address < base_) return std::nullopt;
  const auto after = std::upper_bound(
      functions_.begin(), functions_.end(), offset,
      [](uint64_t wanted, const Function& function) { return wanted < function.start; });
  if (after == functions_.begin()) return std::nullopt;
  const Function& function = *std::prev(after);
  if (offset - function.start >= function.bytes) return std::nullopt;
  return base_ + function.start;
}

}  // namespace vesta
