// Frames of Go functions from Go's own function table, which even a stripped program carries: Go
// programs have no call frame information of their own. amd64.
#pragma once

#include <memory>

#include "symbols/elf/elf_file.h"
#include "unwind/function_source.h"

namespace vesta {

// Null when the file is no Go program, or none whose table can be read. The file must outlive it.
std::unique_ptr<FunctionSource> go_source(const ElfFile& file);

}  // namespace vesta
