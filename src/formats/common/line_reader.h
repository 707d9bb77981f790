// Goes over a text line by line without copying it. Views point into the text given. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <string_view>

namespace vesta {

class LineReader {
 public:
  explicit LineReader(std::string_view text) : rest_(text) {}

  // The next line without its LF or CRLF; false at the end.
  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    ++number_;
    const size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return true;
  }

  // Of the line given last, from 1.
  size_t number() const { return number_; }

 private:
  std::string_view rest_;
  size_t number_ = 0;
};

inline std::string_view trim_left(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

inline std::string_view trim_right(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

}  // namespace vesta
