// The whole command line as one function, so that tests can call it. No global state.
#pragma once

#include <string>
#include <vector>

#include "cli/console.h"

namespace vesta::cli {

// `words` are the arguments after the program's name. Returns the exit code.
int run(const std::vector<std::string>& words, Console& console);

}  // namespace vesta::cli
