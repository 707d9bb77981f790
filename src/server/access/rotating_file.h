// A file that lines are appended to, and that is put aside when it is full: PATH is the newest,
// then PATH.1, PATH.2 … The oldest goes, so that the whole is bounded. One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace vesta::server {

struct RotatingFileOptions {
  std::string path;
  uint64_t max_bytes = 0;  // of one file; a single block may be larger
  int files = 2;           // in all
};

class RotatingFile {
 public:
  // Appends to what is there. For the owner alone to read. kIo.
  static Result<RotatingFile> open(RotatingFileOptions options);

  // kIo when not all of it could be written.
  Status append(std::string_view lines);

 private:
  explicit RotatingFile(RotatingFileOptions options) : options_(std::move(options)) {}
  Status open_newest();
  Status rotate();

  RotatingFileOptions options_;
  UniqueFd file_;
  uint64_t written_ = 0;
};

}  // namespace vesta::server
