// Small questions about text that many ask. ASCII, whatever the locale. Pure functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace vesta {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Without blanks at either end.
constexpr std::string_view trim(std::string_view text, std::string_view blanks = " \t") {
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// The last part of a path; all of it when it has no slash.
constexpr std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace vesta
