// How a text report looks: colours on a terminal, plain otherwise. Values, passed by reference into
// every report.
#pragma once

#include <string>
#include <string_view>

namespace vesta {

struct TextStyle {
  bool color = false;
  size_t width = 0;  // columns of the terminal; 0 = do not cut lines

  std::string bold(std::string_view text) const { return wrap("1", text); }
  std::string dim(std::string_view text) const { return wrap("2", text); }
  std::string red(std::string_view text) const { return wrap("31", text); }
  std::string blue(std::string_view text) const { return wrap("34", text); }
  // Hot shares stand out: the eye goes to what matters.
  std::string heat(std::string_view text, double share) const {
    if (share >= 0.10) return wrap("1;31", text);
    if (share >= 0.01) return wrap("33", text);
    return dim(text);
  }

 private:
  std::string wrap(std::string_view code, std::string_view text) const {
    if (!color || text.empty()) return std::string(text);
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
  }
};

// A name from outside, safe on a terminal: control characters and direction marks become visible
// escapes, invalid UTF-8 is replaced.
std::string printable(std::string_view name);

}  // namespace vesta
