// What became of the files of a folder, remembered across restarts in one text file that is only
// appended to: a line for each file, with a checksum. Damaged lines are left out and counted; lines
// that no longer matter are cleared away when they are the larger part. Not thread-safe.
//
// A line: checksum (16 hex digits of all that follows), then S (shipped) or B (broken), size,
// modification time in ns, content (32 hex digits), path; or F (forgotten) and path. Separated by
// blanks; a path has \n and \\ for its line ends and backslashes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"

namespace vesta::agent {

struct FileStamp {
  uint64_t size = 0;
  int64_t mtime_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

struct ShippedFile {
  FileStamp stamp;
  Hash128 content;
  bool is_broken = false;  // not shipped, and not worth another try
  friend bool operator==(const ShippedFile&, const ShippedFile&) = default;
};

// One line without its end. Nothing when it is damaged; no `file` when the path is forgotten.
struct ShippedNote {
  std::string path;
  std::optional<ShippedFile> file;
};
std::optional<ShippedNote> parse_note(std::string_view line);
std::string note_line(const std::string& path, const ShippedFile* file);

class ShippedFiles {
 public:
  static constexpr size_t kMaxFiles = 65536;  // the oldest notes go

  // Starts empty when there is no such file. An empty path: nothing is kept on disk.
  static Result<ShippedFiles> open(const std::string& path, size_t max_files = kMaxFiles);

  const ShippedFile* find(const std::string& path) const;
  // Shipped from any path that is still known.
  bool has_shipped(const Hash128& content) const { return contents_.contains(content); }

  // On an error the note holds until the process ends.
  Status note(const std::string& path, const ShippedFile& file);
  Status forget(const std::string& path);

  std::vector<std::string> paths() const;
  size_t size() const { return files_.size(); }
  uint64_t damaged_lines() const { return damaged_lines_; }

 private:
  struct Entry {
    ShippedFile file;
    uint64_t number = 0;  // in the order of notes
  };

  void apply(const ShippedNote& note);
  void remove(const std::string& path);
  Status append(const std::string& line);
  Status rewrite();

  std::string path_;
  size_t max_files_ = kMaxFiles;
  std::map<std::string, Entry> files_;
  std::map<uint64_t, std::string> by_number_;
  std::map<Hash128, uint64_t> contents_;  // shipped ones, with the number of paths
  uint64_t next_number_ = 1;
  uint64_t lines_ = 0;
  uint64_t damaged_lines_ = 0;
  bool needs_rewrite_ = false;  // the last write failed: the file may end in half a line
};

}  // namespace vesta::agent
