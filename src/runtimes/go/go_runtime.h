// Go: the program's own function table, which even a stripped one carries, has names and lines, and
// unwind/go_frames.h makes unwind rules of it. Pure functions.
#pragma once

#include <string_view>

#include "symbols/module_symbols.h"

namespace vesta {

bool owns_go_code(const ModuleSymbols& symbols);
std::string_view why_go_is_unsupported(const ModuleSymbols& symbols);

}  // namespace vesta
