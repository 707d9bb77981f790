#include "reports/print/text_style.h"

#include <fmt/format.h>

#include <iterator>

#include "base/utf8.h"

namespace vesta {

std::string printable(std::string_view name) {
  std::string repaired = is_valid_utf8(name) ? std::string(name) : replace_invalid_utf8(name);
  std::string out;
  out.reserve(repaired.size());
  for (size_t i = 0; i < repaired.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(repaired[i]);
    if (c < 0x20 || c == 0x7F) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", c);
      continue;
    }
    const std::string_view three = std::string_view(repaired).substr(i, 3);
    // U+0080..U+009F are terminal controls too; U+200E/F, U+202A..E and U+2066..9 reorder what
    // follows on the line.
    if (c == 0xC2 && i + 1 < repaired.size() &&
        static_cast<unsigned char>(repaired[i + 1]) < 0xA0) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}",
                     static_cast<unsigned char>(repaired[i + 1]));
      ++i;
      continue;
    }
    if (three.size() == 3 && three[0] == '\xE2' && (three[1] == '\x80' || three[1] == '\x81')) {
      const unsigned last = static_cast<unsigned char>(three[2]);
      const unsigned code = 0x2000u | (three[1] == '\x80' ? 0u : 0x40u) | (last & 0x3Fu);
      if (code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
          (code >= 0x2066 && code <= 0x2069)) {
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
        i += 2;
        continue;
      }
    }
    out.push_back(repaired[i]);
  }
  return out;
}

}  // namespace vesta
