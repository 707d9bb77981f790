#include "demangle/demangle.h"

#include <libiberty/demangle.h>

#include <algorithm>
#include <csetjmp>

#include "demangle/short_name.h"

namespace vesta {
namespace {

// Where libiberty writes to. A name of 200 bytes may refer back to its own parts so that it
// unfolds into 2^60 bytes; leaving by longjmp is the only way to stop the unfolding.
struct BoundedOutput {
  std::string text;
  std::jmp_buf give_up = {};
};

// The Rust demangler holds memory only while it prints an identifier in Punycode. What unfolds
// without end prints separators again and again, and those are safe places to leave.
bool is_separator(const char* bytes, size_t size) {
  return std::all_of(bytes, bytes + size, [](unsigned char c) {
    return c < 0x80 && c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') &&
           (c < 'a' || c > 'z');
  });
}

void take(BoundedOutput& output, const char* bytes, size_t size) {
  const size_t room = kMaxDemangledBytes - output.text.size();
  output.text.append(bytes, std::min(room, size));
}

void take_cpp(const char* bytes, size_t size, void* opaque) {
  auto& output = *static_cast<BoundedOutput*>(opaque);
  take(output, bytes, size);
  if (output.text.size() >= kMaxDemangledBytes) std::longjmp(output.give_up, 1);
}

void take_rust(const char* bytes, size_t size, void* opaque) {
  auto& output = *static_cast<BoundedOutput*>(opaque);
  take(output, bytes, size);
  if (output.text.size() >= kMaxDemangledBytes && is_separator(bytes, size)) {
    std::longjmp(output.give_up, 1);
  }
}

using Demangler = int (*)(const char*, int, demangle_callbackref, void*);

// False when the name is of another kind, or too much. Nothing in this frame is touched between
// setjmp and longjmp but `output`, which the caller owns.
bool run(Demangler demangler, const char* name, int options, demangle_callbackref callback,
         BoundedOutput& output) {
  if (setjmp(output.give_up) != 0) {
    output.text.clear();
    return false;
  }
  const bool known = demangler(name, options, callback, &output) != 0;
  if (!known || output.text.size() >= kMaxDemangledBytes) output.text.clear();
  return !output.text.empty();
}

std::string demangle_rust(const std::string& name, DemangleStyle style) {
  BoundedOutput output;
  if (!run(rust_demangle_callback, name.c_str(), 0, take_rust, output)) return {};
  if (style == DemangleStyle::kShort) return shorten_rust_name(output.text);
  return output.text + name.substr(compiler_suffix_offset(name));
}

std::string demangle_cpp(const std::string& name, DemangleStyle style) {
  BoundedOutput output;
  const int options = style == DemangleStyle::kShort ? DMGL_ANSI : DMGL_ANSI | DMGL_PARAMS;
  if (!run(cplus_demangle_v3_callback, name.c_str(), options, take_cpp, output)) return {};
  return style == DemangleStyle::kShort ? shorten_cpp_name(output.text) : std::move(output.text);
}

}  // namespace

std::string demangle(std::string_view linkage_name, DemangleStyle style,
                     DemangleLanguages languages) {
  if (style == DemangleStyle::kOff || linkage_name.size() > kMaxLinkageNameBytes ||
      linkage_name.find('\0') != std::string_view::npos) {
    return std::string(linkage_name);
  }
  // Mach-O's extra underscore and plain C names are no business of ours.
  if (linkage_name.starts_with("_Z") || linkage_name.starts_with("_R")) {
    const std::string name(linkage_name);
    // Old Rust names look like C++ ones, so that they are tried even when nobody wants them.
    std::string demangled = demangle_rust(name, style);
    if (!demangled.empty() && !languages.rust) return name;
    if (demangled.empty() && name[1] == 'Z') {
      if (!languages.cpp) return name;
      demangled = demangle_cpp(name, style);
    }
    if (!demangled.empty()) return demangled;
  }
  if (style == DemangleStyle::kShort) {
    return std::string(linkage_name.substr(0, compiler_suffix_offset(linkage_name)));
  }
  return std::string(linkage_name);
}

}  // namespace vesta
