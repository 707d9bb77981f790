// Parses /proc/PID/maps as it streams by: only the current line is held, however many mappings
// there are. Pure, no I/O; the text may be anything (paths are chosen by others). Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace vesta::agent {

struct ProcMapping {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t file_offset = 0;
  bool is_executable = false;
  uint64_t device = 0;  // as makedev() gives it
  uint64_t inode = 0;
  std::string_view
      path;  // as the kernel wrote it, but for " (deleted)"; empty for anonymous memory
  bool is_deleted = false;
};

// One line without its newline; nothing when it is not a mapping.
std::optional<ProcMapping> parse_maps_line(std::string_view text);

// The path with the kernel's "\012" turned into the newlines they stand for.
std::string unescape_maps_path(std::string_view path);

class MapsParser {
 public:
  explicit MapsParser(std::function<void(const ProcMapping&)> callback)
      : callback_(std::move(callback)) {}

  void feed(std::string_view chunk);
  void finish();  // the last line may lack its newline

  uint64_t lines() const { return lines_; }
  uint64_t bad_lines() const { return bad_lines_; }

 private:
  void line(std::string_view text);

  std::function<void(const ProcMapping&)> callback_;
  std::string partial_;
  bool is_skipping_ = false;  // inside a line that is too long
  uint64_t lines_ = 0;
  uint64_t bad_lines_ = 0;
};

}  // namespace vesta::agent
