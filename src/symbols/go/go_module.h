// Finds a Go program's function table and what else it needs inside an ELF file: by section, and
// by content where section headers and symbols were stripped. Pure functions of the file.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "symbols/elf/elf_file.h"
#include "symbols/go/pclntab.h"

namespace vesta {

struct GoModule {
  Pclntab table;
  // go:func.*, where the inline trees lie; empty when it was not found.
  std::string_view funcdata;
};

// kNotFound when this is no Go program.
Result<GoModule> find_go_module(const ElfFile& file);

}  // namespace vesta
