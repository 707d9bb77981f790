// Names, files, lines and stack depths of a Go program, from the table that even a stripped one
// carries. Owns a share of the file; the views it hands out live as long as it does. Read-only
// after open(), so any number of threads may use one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbols/elf/elf_file.h"
#include "symbols/go/pclntab.h"
#include "symbols/source_frame.h"

namespace vesta {

// Addresses are those of the file.
struct GoFunction {
  static constexpr uint8_t kTopFrame = 1;  // outermost: a stack ends here
  static constexpr uint8_t kSpWrite = 2;   // sets SP to what no table knows: cannot be unwound

  uint64_t entry = 0;
  uint64_t end = 0;
  std::string_view name;
  uint8_t flags = 0;  // Go 1.17 and later; 0 before
  bool is_assembly = false;
  uint32_t stack_table = 0;  // for stack_deltas()

  bool is_top_frame() const { return (flags & kTopFrame) != 0; }
  bool writes_sp() const { return (flags & kSpWrite) != 0; }
};

// From `pc` to the next one's, the return address lies at SP + `sp_delta` (amd64).
struct GoStackDelta {
  uint64_t pc = 0;
  int32_t sp_delta = 0;
};

class GoSymbols {
 public:
  // kNotFound when the file is no Go program, kInvalidInput or kUnsupported when its table cannot
  // be read.
  static Result<std::shared_ptr<const GoSymbols>> open(std::shared_ptr<const ElfFile> file);

  // Innermost first, inlined calls included (Go 1.18 and later). Appends to `frames`; false when
  // the address is in no Go function. For a return address, pass the address minus one.
  bool lookup(uint64_t address, std::vector<SourceFrame>& frames) const;

  // In the order of addresses, until the callback says false. Broken entries are left out.
  void for_each_function(const std::function<bool(const GoFunction&)>& callback) const;
  size_t function_count() const { return module_table_.function_count(); }

  // Appends the rows of a function, ascending; the last one holds until the function's end.
  // kNotFound when it has no table, kInvalidInput when the table is broken.
  Status stack_deltas(const GoFunction& function, std::vector<GoStackDelta>& rows) const;

  // Whether inlined calls can be told: not before Go 1.18, and not when go:func.* was not found.
  bool has_inlining() const { return !funcdata_.empty(); }

 private:
  GoSymbols(std::shared_ptr<const ElfFile> file, Pclntab table, std::string_view funcdata)
      : file_(std::move(file)), module_table_(table), funcdata_(funcdata) {}

  struct InlinedCall {
    int32_t name_offset;
    int32_t parent_offset;  // from the function's entry
    uint32_t start_line;
  };
  bool inlined_call(const PclntabFunction& function, uint64_t address, PclntabBudget& budget,
                    InlinedCall& call) const;
  bool is_assembly(const PclntabFunction& function) const;

  std::shared_ptr<const ElfFile> file_;
  Pclntab module_table_;
  std::string_view funcdata_;
};

}  // namespace vesta
