// ELF files for tests of unwinding: assembled by gcc from text with .cfi directives, or put
// together byte by byte where no assembler would write such a thing. Test code only.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "symbols/elf/elf_file.h"

namespace vesta::testing {

// A shared library from assembly; null (and a test failure) when gcc does not take it.
std::shared_ptr<const ElfFile> assemble(std::string_view source);
// Address of a symbol of .symtab; 0 when there is none.
uint64_t symbol_address(const ElfFile& file, std::string_view name);

}  // namespace vesta::testing
