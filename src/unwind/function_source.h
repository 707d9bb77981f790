// Functions of a file whose frames are known from one source (call frame information, Go's function
// table), and the one pass that turns several sources into rows. Sources are used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "symbols/elf/elf_file.h"
#include "unwind/cfi_entries.h"
#include "unwind/row_writer.h"

namespace vesta {

// Functions in order of their start; ranges may overlap, as files are not to be trusted.
class FunctionSource {
 public:
  virtual ~FunctionSource() = default;
  virtual size_t size() const = 0;
  virtual uint64_t start(size_t index) const = 0;
  virtual uint64_t end(size_t index) const = 0;
  // A return address may point at the very start of the function without a call before it.
  virtual bool begins_early(size_t index) const = 0;
  virtual void write_rows(size_t index, uint64_t first, uint64_t limit, RowWriter& rows) const = 0;
};

// Sorts the entries. They and the file must outlive the source.
std::unique_ptr<FunctionSource> cfi_source(CfiEntries& entries, const ElfFile& file);

// Writes the rows of all functions; where sources speak of the same code, the first of them wins.
// What lies between functions gets a row without information, unless it is shorter than what
// alignment leaves.
void write_rows(std::span<const FunctionSource* const> sources, RowWriter& rows);

}  // namespace vesta
