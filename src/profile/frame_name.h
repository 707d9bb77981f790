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

// The last part of a path; all of it when it has no slash.
std::string_view base_name(std::string_view path);

}  // namespace vesta
