// All functions of a file whose frames are known, from whatever there is: .eh_frame, Go's function
// table or .debug_frame, the entry point, and for what is left the instructions. Owns what it read;
// refers to the file, which must outlive it. Immutable once read.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "symbols/elf/elf_file.h"
#include "unwind/cfi_section.h"
#include "unwind/code_frames.h"
#include "unwind/function_source.h"

namespace vesta {

// The executable part of a file; nothing when it has none.
std::optional<CodeRange> code_range(const ElfFile& file);

class FileFunctions {
 public:
  // REQUIRES: the file has code.
  static Result<std::unique_ptr<FileFunctions>> read(const ElfFile& file,
                                                     const ElfFile* debug_file);
  FileFunctions(const FileFunctions&) = delete;
  FileFunctions& operator=(const FileFunctions&) = delete;

  // By authority.
  std::span<const FunctionSource* const> sources() const { return sources_; }
  const std::vector<CodeRange>& undescribed() const { return undescribed_; }
  uint64_t expected_rows() const { return expected_rows_; }
  uint64_t skipped() const { return skipped_; }

  // Where functions begin and end, in order; of those that were decoded the end is where the next
  // begins, or the code.
  std::vector<CodeRange> ranges() const;

 private:
  FileFunctions() = default;
  Status read_section(const CfiSection& section, const CodeRange& code);
  void add(std::unique_ptr<FunctionSource> source);

  std::deque<CfiEntries> entries_;
  std::string unpacked_[2];
  std::vector<std::unique_ptr<FunctionSource>> owners_;
  std::vector<const FunctionSource*> sources_;
  std::vector<CodeRange> undescribed_;
  DecodedCode decoded_;
  size_t described_sources_ = 0;  // the first of sources_, whose entries are functions
  uint64_t expected_rows_ = 0;
  uint64_t skipped_ = 0;
};

}  // namespace vesta
