// The manual page of vesta, made from the same tables as its help. Pure function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace vesta::cli {

// In the man macros that groff and mandoc read.
std::string man_page(const std::vector<Command>& commands, std::string_view version);

}  // namespace vesta::cli
