// A place in a program as a symbolizer tells it: one function, with file and line when known. An
// address inside inlined calls gives several, innermost first. Views into whatever gave them; copy
// to keep.
#pragma once

#include <cstdint>
#include <string_view>

namespace vesta {

struct SourceFrame {
  std::string_view name;  // for people, demangled; never empty
  std::string_view
      linkage_name;       // as the linker knows it; empty when the same as `name` or not known
  std::string_view file;  // empty when not known
  uint32_t line = 0;      // 0 when not known
  uint32_t column = 0;
  uint32_t start_line = 0;  // where the function begins
};

}  // namespace vesta
