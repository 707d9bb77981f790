// The program that an interpreter runs, from its command line: a script, a module, a main class or
// a jar. For the service's name only; arguments are never kept, and where it is not plain which
// word is the program, there is no name. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vesta::agent {

// Both are empty when nothing is certain, or when the program is no file: code in the command line,
// on standard input or behind an open descriptor.
struct InterpretedProgram {
  std::string name;  // a script's file name, a module, a main class, a jar without its version
  std::string path;  // of the file, as the command line has it; empty for modules and classes
};

// Whether the name of that executable says little about what runs: python3.11, java, node, ruby,
// php, perl, sh, bash …
bool is_interpreter(std::string_view executable_name);

// Whether a text can be the name of a program: short, no blanks, no slashes, nothing to quote.
bool is_program_name(std::string_view text);

// As in /proc/PID/cmdline: words that end with zero bytes. A last one that is cut off is left out.
std::vector<std::string_view> split_command_line(std::string_view command_line);

// The first of `words` is the interpreter itself.
InterpretedProgram program_of_interpreter(std::string_view executable_name,
                                          std::span<const std::string_view> words);

}  // namespace vesta::agent
