#include "unwind/file_functions.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "unwind/cfi_entries.h"
#include "unwind/entry_frame.h"
#include "unwind/go_frames.h"
#include "unwind/unwind_table.h"

namespace vesta {
namespace {

// A file with fewer functions than this has lost its information to a debug file: what the start
// files bring along is all that is left.
constexpr size_t kHardlyAny = 8;

// Rows that one byte of call frame instructions gives at most: two bytes for moving on and for a
// change. Reserving by it wastes address space only.
constexpr size_t kInstructionBytesPerRow = 2;
constexpr size_t kRowsPerGoFunction = 6;

}  // namespace

std::optional<CodeRange> code_range(const ElfFile& file) {
  CodeRange range{std::numeric_limits<uint64_t>::max(), 0};
  for (const Elf64_Phdr& segment : file.segments()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uint64_t end = segment.p_vaddr + segment.p_memsz;
    if (end <= segment.p_vaddr) continue;
    range.low = std::min<uint64_t>(range.low, segment.p_vaddr);
    range.high = std::max(range.high, end);
  }
  if (range.low >= range.high) return std::nullopt;
  return range;
}

Status FileFunctions::read_section(const CfiSection& section, const CodeRange& code) {
  if (section.bytes.empty()) return {};
  VESTA_ASSIGN(CfiEntries more, read_cfi_entries(section, code.low, code.high));
  entries_.push_back(std::move(more));
  return {};
}

void FileFunctions::add(std::unique_ptr<FunctionSource> source) {
  if (source == nullptr) return;
  sources_.push_back(source.get());
  owners_.push_back(std::move(source));
}

Result<std::unique_ptr<FileFunctions>> FileFunctions::read(const ElfFile& file,
                                                           const ElfFile* debug_file) {
  std::unique_ptr<FileFunctions> out(new FileFunctions());
  const CodeRange code = code_range(file).value_or(CodeRange{});
  VESTA_TRY(out->read_section(find_eh_frame(file), code));
  std::unique_ptr<FunctionSource> go = go_source(file);
  // Go's linker writes .debug_frame too, but it says less than the function table: nothing about
  // rbp, nor about functions that switch stacks.
  if (go == nullptr) VESTA_TRY(out->read_section(find_debug_frame(file, out->unpacked_[0]), code));
  size_t functions = 0;
  for (const CfiEntries& source : out->entries_) functions += source.fdes.size();
  if (debug_file != nullptr && go == nullptr && functions < kHardlyAny)
    VESTA_TRY(out->read_section(find_debug_frame(*debug_file, out->unpacked_[1]), code));

  for (CfiEntries& source : out->entries_) {
    for (const Fde& fde : source.fdes)
      out->expected_rows_ += fde.instructions_size / kInstructionBytesPerRow + 2;
    out->skipped_ += source.skipped;
    out->add(cfi_source(source, file));
  }
  if (go != nullptr) out->expected_rows_ += go->size() * kRowsPerGoFunction;
  out->add(std::move(go));
  out->described_sources_ = out->sources_.size();
  out->add(entry_source(file));
  out->undescribed_ = undescribed_code(file, out->sources_);
  out->decoded_ = decode_frames(file, out->undescribed_);
  out->expected_rows_ += out->decoded_.rows.size();
  if (!out->decoded_.rows.empty()) out->add(decoded_source(out->undescribed_, out->decoded_));
  return out;
}

std::vector<CodeRange> FileFunctions::ranges() const {
  std::vector<CodeRange> out;
  for (size_t i = 0; i < described_sources_; ++i) {
    const FunctionSource& source = *sources_[i];
    for (size_t at = 0; at < source.size(); ++at) out.push_back({source.start(at), source.end(at)});
  }
  auto range = undescribed_.begin();
  for (size_t i = 0; i < decoded_.starts.size(); ++i) {
    const uint64_t start = decoded_.starts[i];
    while (range != undescribed_.end() && range->high <= start) ++range;
    if (range == undescribed_.end()) break;
    const uint64_t next = i + 1 < decoded_.starts.size() ? decoded_.starts[i + 1] : range->high;
    out.push_back({start, std::min(next, range->high)});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const CodeRange& a, const CodeRange& b) { return a.low < b.low; });
  return out;
}

}  // namespace vesta
