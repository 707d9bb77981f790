// The name of the program that an interpreter runs, from its command line: the base name of a
// script, a module, a main class or a jar. For the service's name only; arguments are never kept,
// and where it is not plain which word is the program, there is no name. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace vesta::agent {

// Whether the name of that executable says little about what runs: python3.11, java, node, ruby,
// php, perl, sh, bash …
bool is_interpreter(std::string_view executable_name);

// `command_line` as in /proc/PID/cmdline: words that end with zero bytes. Empty when the executable
// is no interpreter or nothing is certain.
std::string program_of_interpreter(std::string_view executable_name, std::string_view command_line);

}  // namespace vesta::agent
