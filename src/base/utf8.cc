#include "base/utf8.h"

#include <cstdint>

namespace vesta {
namespace {

struct Decoded {
  uint32_t code_point = 0;
  size_t length = 0;  // bytes consumed, at least 1
  bool valid = false;
};

// Follows the table of well-formed sequences in the Unicode standard (table 3-7).
Decoded decode(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[at + i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {first, 1, true};
  size_t length = 0;
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
  uint32_t code_point = 0;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
    code_point = first & 0x1F;
  } else if ((first & 0xF0) == 0xE0) {
    length = 3;
    code_point = first & 0x0F;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    code_point = first & 0x07;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  } else {
    return {0xFFFD, 1, false};
  }
  for (size_t i = 1; i < length; ++i) {
    if (at + i >= text.size() || byte(i) < low || byte(i) > high) return {0xFFFD, i, false};
    code_point = (code_point << 6) | (byte(i) & 0x3F);
    low = 0x80;
    high = 0xBF;
  }
  return {code_point, length, true};
}

size_t columns_of(uint32_t c) {
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return 0;
  if ((c >= 0x300 && c <= 0x36F) || (c >= 0x200B && c <= 0x200F) || (c >= 0xFE00 && c <= 0xFE0F))
    return 0;
  if ((c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) ||
      (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
      (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
      (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD)) {
    return 2;
  }
  return 1;
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (static_cast<uint8_t>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const Decoded d = decode(text, at);
    if (!d.valid) return false;
    at += d.length;
  }
  return true;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Decoded d = decode(text, at);
    if (d.valid) {
      out.append(text.substr(at, d.length));
    } else {
      out.append("\xEF\xBF\xBD");
    }
    at += d.length;
  }
  return out;
}

size_t display_width(std::string_view text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    const Decoded d = decode(text, at);
    columns += columns_of(d.code_point);
    at += d.length;
  }
  return columns;
}

std::string_view clip_to_width(std::string_view text, size_t columns) {
  size_t used = 0;
  for (size_t at = 0; at < text.size();) {
    const Decoded d = decode(text, at);
    used += columns_of(d.code_point);
    if (used > columns) return text.substr(0, at);
    at += d.length;
  }
  return text;
}

}  // namespace vesta
