// Patterns of function names, for the tables of reasons. Pure.
#pragma once

#include <string_view>

namespace vesta::agent {

// `patterns` are separated by spaces; * at the end: any name that begins so.
bool names_any(std::string_view patterns, std::string_view function);

// Compilers split functions: "do_wait.part.0".
inline std::string_view without_suffix(std::string_view function) {
  return function.substr(0, function.find('.'));
}

}  // namespace vesta::agent
