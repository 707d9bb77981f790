// Where the function around an address begins, for files that have lost their names: what stands
// for a function must be the same for all its addresses. Immutable once made.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "symbols/elf/elf_file.h"

namespace vesta {

class FunctionStarts {
 public:
  // Empty when nothing is known. May take long: everything that unwind tables are built from is
  // read.
  static FunctionStarts of(const ElfFile& file);

  std::optional<uint64_t> find(uint64_t elf_address) const;
  size_t memory_bytes() const { return functions_.capacity() * sizeof(Function); }

 private:
  struct Function {
    uint32_t start;  // from base_ on
    uint32_t bytes;
  };
  uint64_t base_ = 0;
  std::vector<Function> functions_;  // by start
};

}  // namespace vesta
