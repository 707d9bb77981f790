// The frame of a program's first instructions: nobody called them. The dynamic linker, and programs
// of some C libraries, have no call frame information there that would say so.
#pragma once

#include <memory>

#include "symbols/elf/elf_file.h"
#include "unwind/function_source.h"

namespace vesta {

// The code at the entry point as outermost frame; null when the file has none.
std::unique_ptr<FunctionSource> entry_source(const ElfFile& file);

}  // namespace vesta
