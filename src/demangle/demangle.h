// Names of functions as people know them: C++ (Itanium) and Rust (legacy and v0) linkage names,
// demangled through libiberty within bounds. Pure functions that any thread may call.
// Everything else (C, Go, D, Swift …) passes through unchanged.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vesta {

enum class DemangleStyle {
  kOff,    // the linkage name itself
  kShort,  // for a flame graph: no parameters, no return type, template arguments as <…>
  kFull,   // everything, as a compiler would print it
};

// Names of other languages stay as they are.
struct DemangleLanguages {
  bool cpp = true;
  bool rust = true;
};

// A longer linkage name is not even tried; a longer result is given up.
inline constexpr size_t kMaxLinkageNameBytes = 64 * 1024;
inline constexpr size_t kMaxDemangledBytes = 256 * 1024;

// What cannot be demangled comes back as it is; never empty unless the input is. The compiler's
// suffixes (.constprop.0, .part.0, .isra.0, .cold, .llvm.123 …) stay in kFull and go in kShort,
// for C functions too. libiberty does not demangle C++ names of more than 1024 bytes, because its
// recursion limit is on.
std::string demangle(std::string_view linkage_name, DemangleStyle style,
                     DemangleLanguages languages = {});

}  // namespace vesta
