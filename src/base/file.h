// Files as bytes: mapped where possible, read where not (pipes, stdin), bounded always. Owners
// release on destruction. Not thread-safe, but a loaded InputFile may be read from many threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace vesta {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  ~UniqueFd() { reset(); }
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = other.release();
    }
    return *this;
  }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

class InputFile {
 public:
  // Maps a regular file, reads anything else; "-" is standard input. kLimit when there are more
  // than `max_bytes`.
  static Result<InputFile> open(const std::string& path, uint64_t max_bytes);
  // Maps a regular file that is already open; anything else (a pipe, a device) is refused, because
  // reading it could block. For files that belong to others: they may shrink while they are mapped,
  // after which the lost part reads as zeros (see mapped_file_guard.h).
  static Result<InputFile> from_fd(int fd, uint64_t max_bytes);
  static InputFile from_bytes(std::string bytes);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  // Gives the memory of a mapped file back until it is touched again, which costs a page fault and
  // no more: for files that are kept open but rarely read. Safe while others read.
  void release_pages() const;

  std::string_view bytes() const {
    return mapped_ != nullptr ? std::string_view(mapped_, size_) : owned_;
  }

 private:
  InputFile() = default;
  const char* mapped_ = nullptr;
  size_t size_ = 0;
  bool guarded_ = false;
  std::string owned_;
};

// To a descriptor; false when not all could be written, for the reason that errno has.
bool write_all(int fd, std::string_view bytes);
// Writes to a temporary file in the same folder, then renames it over `path`: a reader never sees
// half a file, and a failed write leaves the old one. Devices and pipes are written to directly;
// "-" is standard output.
Status write_file(const std::string& path, std::string_view bytes);

}  // namespace vesta
