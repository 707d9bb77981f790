#include "agent/process/proc_maps.h"

#include <sys/sysmacros.h>

#include <charconv>

namespace vesta::agent {
namespace {

// A path is at most 4096 bytes, of which each may be written as four.
constexpr size_t kMaxLine = 20 * 1024;
constexpr std::string_view kDeleted = " (deleted)";
constexpr std::string_view kNewline = "\\012";

// Takes a hexadecimal (or decimal) number and the character after it.
template <class T>
bool take_number(std::string_view& text, T& out, char after, int base = 16) {
  const char* end = text.data() + text.size();
  const auto [ptr, error] = std::from_chars(text.data(), end, out, base);
  if (error != std::errc() || ptr == end || *ptr != after) return false;
  text.remove_prefix(static_cast<size_t>(ptr - text.data()) + 1);
  return true;
}

}  // namespace

std::optional<ProcMapping> parse_maps_line(std::string_view text) {
  ProcMapping out;
  uint32_t major = 0;
  uint32_t minor = 0;
  if (!take_number(text, out.start, '-') || !take_number(text, out.end, ' ')) return std::nullopt;
  if (out.end <= out.start || text.size() < 5 || text[4] != ' ') return std::nullopt;
  out.is_executable = text[2] == 'x';
  text.remove_prefix(5);
  if (!take_number(text, out.file_offset, ' ') || !take_number(text, major, ':') ||
      !take_number(text, minor, ' ')) {
    return std::nullopt;
  }
  out.device = makedev(major, minor);
  // The inode is the last field of anonymous memory, with or without a blank behind it.
  const char* end = text.data() + text.size();
  const auto [ptr, error] = std::from_chars(text.data(), end, out.inode);
  if (error != std::errc() || (ptr != end && *ptr != ' ')) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(ptr - text.data()));
  const size_t path = text.find_first_not_of(' ');
  if (path != std::string_view::npos) out.path = text.substr(path);
  if (out.path.ends_with(kDeleted)) {
    out.path.remove_suffix(kDeleted.size());
    out.is_deleted = true;
  }
  return out;
}

std::string unescape_maps_path(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  while (true) {
    const size_t at = path.find(kNewline);
    out += path.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += '\n';
    path.remove_prefix(at + kNewline.size());
  }
}

void MapsParser::line(std::string_view text) {
  ++lines_;
  if (const auto mapping = parse_maps_line(text)) {
    callback_(*mapping);
  } else {
    ++bad_lines_;
  }
}

void MapsParser::feed(std::string_view chunk) {
  while (!chunk.empty()) {
    const size_t end = chunk.find('\n');
    const std::string_view piece = chunk.substr(0, end);
    if (end == std::string_view::npos) {
      if (is_skipping_) return;
      if (partial_.size() + piece.size() > kMaxLine) {
        is_skipping_ = true;
        partial_.clear();
        ++lines_;
        ++bad_lines_;
        return;
      }
      partial_ += piece;
      return;
    }
    chunk.remove_prefix(end + 1);
    if (is_skipping_) {
      is_skipping_ = false;
    } else if (partial_.empty()) {
      line(piece);
    } else {
      partial_ += piece;
      line(partial_);
      partial_.clear();
    }
  }
}

void MapsParser::finish() {
  if (!partial_.empty()) line(partial_);
  partial_.clear();
  is_skipping_ = false;
}

}  // namespace vesta::agent
