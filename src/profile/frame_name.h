// What to call a frame, in one place, so that every writer and report shows the same name for the
// same location. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "profile/dictionary.h"

namespace vesta {

// How many frames a location stands for: its inlined functions, or one when it has no lines.
size_t frame_count(const Dictionary& dictionary, LocationId location);

// The name of the location's frame at `line_index` (0 = innermost): the function's name, else its
// system name, else what is known of the place: "libfoo.so+0x1234", "0x7f001234", "[unknown]".
// REQUIRES: line_index < frame_count(dictionary, location)
std::string frame_name(const Dictionary& dictionary, LocationId location, size_t line_index = 0);

// What a function is called whose name is not known: its binary and where it begins there, such as
// "libz.so.1.2.13+0x5840".
std::string place_name(std::string_view binary, uint64_t start);
// Whether a name of a function in that binary is such a one: it counts as unnamed.
bool is_place_name(std::string_view name, std::string_view binary);

// What counts as one row or bar.
enum class Granularity { kFunction, kFileFunction, kFile, kLine, kAddress, kBinary };

// What reports know of a frame. What tells two of them apart at a granularity is set; the rest is
// empty, or that of the first one seen.
struct FrameName {
  std::string_view name;  // of the function, or what stands for it
  std::string_view file;
  std::string_view binary;  // path
  int64_t line = 0;
  uint32_t column = 0;
  uint64_t address = 0;
  FrameKind kind = FrameKind::kUnknown;
  int64_t start_line = 0;  // of the function, the first of all that have the name; 0 = not known
};
// The first of both lines; one that is not known is none.
inline int64_t first_line(int64_t a, int64_t b) {
  return a == 0 || (b != 0 && b < a) ? b : a;
}

// As a person should read it: "main.work", "main.work /src/main.go:42" at line granularity, the
// path of a file, the base name of a binary; "[libc.so.6]" where only the binary is known,
// "<unknown>" where not even that is.
std::string display_text(const FrameName& name, Granularity granularity);

}  // namespace vesta
