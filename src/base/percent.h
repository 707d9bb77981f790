// Text with %XX for bytes, as URLs and OpenTelemetry's variables have it. Pure function.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/hex.h"

namespace vesta {

// Nothing when a % is not followed by two hexadecimal digits.
inline std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '+' && plus_is_space) {
      out += ' ';
    } else if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace vesta
