// Bytes written as hexadecimal digits, as ids of traces and builds are. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace vesta {

// -1 for any other character.
inline int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// False, with `bytes` left alone, unless the text is exactly as many bytes in hexadecimal.
inline bool parse_hex(std::string_view text, std::span<uint8_t> bytes) {
  if (text.size() != 2 * bytes.size()) return false;
  for (const char c : text) {
    if (hex_digit(c) < 0) return false;
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<uint8_t>(hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]));
  }
  return true;
}

}  // namespace vesta
