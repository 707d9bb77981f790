#include "base/file.h"

#include "base/mapped_file_guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

namespace vesta {
namespace {

Error io_error(std::string_view what, const std::string& path, int error_number) {
  Error error{ErrorCode::kIo,
              fmt::format("cannot {} {}: {}", what, path, std::strerror(error_number)), ""};
  if (error_number == ENOENT) {
    error.code = ErrorCode::kNotFound;
    error.hint = "check the path";
  } else if (error_number == EACCES || error_number == EPERM) {
    error.code = ErrorCode::kPermission;
    error.hint = "check the file's owner and mode";
  } else if (error_number == ENOSPC) {
    error.hint = "free some space, or write to another disk";
  }
  return error;
}

Error too_large(const std::string& path, uint64_t max_bytes) {
  return {ErrorCode::kLimit,
          fmt::format("{} is larger than the limit of {} bytes", path, max_bytes),
          "raise the limit with --max-size if you trust the file"};
}

Result<std::string> read_all(int fd, const std::string& path, uint64_t max_bytes) {
  constexpr size_t kBlock = 256 * 1024;
  std::string bytes;
  while (true) {
    const size_t used = bytes.size();
    if (bytes.capacity() - used < kBlock) bytes.reserve(used == 0 ? kBlock : used * 2);
    bytes.resize(used + kBlock);
    const ssize_t got = ::read(fd, bytes.data() + used, kBlock);
    if (got < 0 && errno == EINTR) {
      bytes.resize(used);
      continue;
    }
    if (got < 0) return io_error("read", path, errno);
    bytes.resize(used + static_cast<size_t>(got));
    if (got == 0) return bytes;
    if (bytes.size() > max_bytes) return too_large(path, max_bytes);
  }
}

Status write_all(int fd, std::string_view bytes, const std::string& path) {
  return vesta::write_all(fd, bytes) ? Status() : io_error("write", path, errno);
}

}  // namespace

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

void UniqueFd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<InputFile> InputFile::open(const std::string& path, uint64_t max_bytes) {
  InputFile file;
  if (path == "-") {
    VESTA_ASSIGN(file.owned_, read_all(STDIN_FILENO, "standard input", max_bytes));
    return file;
  }
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return io_error("open", path, errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return io_error("stat", path, errno);
  if (S_ISDIR(info.st_mode)) {
    return Error{ErrorCode::kInvalidInput, fmt::format("{} is a folder, not a profile", path),
                 "try a file in it"};
  }
  if (!S_ISREG(info.st_mode) || info.st_size == 0) {
    VESTA_ASSIGN(file.owned_, read_all(fd.get(), path, max_bytes));
    return file;
  }
  if (static_cast<uint64_t>(info.st_size) > max_bytes) return too_large(path, max_bytes);
  const size_t size = static_cast<size_t>(info.st_size);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (address == MAP_FAILED && errno == ENODEV) {
    // Files of sysfs claim a size, but cannot be mapped.
    VESTA_ASSIGN(file.owned_, read_all(fd.get(), path, max_bytes));
    return file;
  }
  if (address == MAP_FAILED) return io_error("map", path, errno);
  ::madvise(address, size, MADV_SEQUENTIAL);
  file.mapped_ = static_cast<const char*>(address);
  file.size_ = size;
  return file;
}

Result<InputFile> InputFile::from_fd(int fd, uint64_t max_bytes) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return io_error("stat", "an open file", errno);
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::kInvalidInput, "not a regular file", {}};
  }
  InputFile file;
  if (info.st_size == 0) return file;
  if (static_cast<uint64_t>(info.st_size) > max_bytes) return too_large("a file", max_bytes);
  const size_t size = static_cast<size_t>(info.st_size);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) return io_error("map", "an open file", errno);
  // A word here and there is read, and each would map 2 MB where the cache has pages of that size.
  ::madvise(address, size, MADV_NOHUGEPAGE);
  file.mapped_ = static_cast<const char*>(address);
  file.size_ = size;
  if (!guard_mapped_file(address, size)) {
    return Error{ErrorCode::kLimit, "too many files are mapped at once", {}};
  }
  file.guarded_ = true;
  return file;
}

void InputFile::release_pages() const {
  if (mapped_ != nullptr) ::madvise(const_cast<char*>(mapped_), size_, MADV_DONTNEED);
}

InputFile InputFile::from_bytes(std::string bytes) {
  InputFile file;
  file.owned_ = std::move(bytes);
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      guarded_(std::exchange(other.guarded_, false)),
      owned_(std::move(other.owned_)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(size_, other.size_);
  std::swap(guarded_, other.guarded_);
  std::swap(owned_, other.owned_);
  return *this;
}

InputFile::~InputFile() {
  if (guarded_) unguard_mapped_file(mapped_);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): munmap does not write through it.
  if (mapped_ != nullptr) ::munmap(const_cast<char*>(mapped_), size_);
}

Status write_file(const std::string& path, std::string_view bytes) {
  if (path == "-") return write_all(STDOUT_FILENO, bytes, "standard output");
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd.valid()) return io_error("open", path, errno);
    return write_all(fd.get(), bytes, path);
  }
  std::string temporary = path + ".XXXXXX";
  const UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return io_error("write", path, errno);
  // mkostemp makes the file private, and so it stays: profiles tell what a company runs.
  Status status = write_all(fd.get(), bytes, path);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = io_error("write", path, errno);
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

}  // namespace vesta
