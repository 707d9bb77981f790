// UTF-8 checks for names that come from outside. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace vesta {

bool is_valid_utf8(std::string_view text);

// The text with each maximal invalid part replaced by U+FFFD. Valid text comes back unchanged.
std::string replace_invalid_utf8(std::string_view text);

// How many terminal columns the text takes: code points, combining marks and wide characters
// accounted for roughly.
size_t display_width(std::string_view text);

// The longest prefix that takes at most `columns`, cut at a code point.
std::string_view clip_to_width(std::string_view text, size_t columns);

}  // namespace vesta
