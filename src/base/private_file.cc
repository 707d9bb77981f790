#include "base/private_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace vesta {
namespace {

Error private_file_error(std::string_view what, const std::string& path, int error) {
  if (error == ELOOP) {
    return {ErrorCode::kIo, fmt::format("cannot {} {}: it is a symbolic link", what, path),
            "remove it; another user may have created it"};
  }
  return {ErrorCode::kIo, fmt::format("cannot {} {}: {}", what, path, std::strerror(error)), {}};
}

Result<UniqueFd> regular_file(UniqueFd fd, std::string_view what, const std::string& path) {
  if (!fd.valid()) return private_file_error(what, path, errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return private_file_error(what, path, errno);
  if (!S_ISREG(info.st_mode)) {
    return Error{
        ErrorCode::kIo, fmt::format("cannot {} {}: it is not a regular file", what, path), {}};
  }
  return fd;
}

}  // namespace

Result<UniqueFd> create_private_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return private_file_error("make", path, errno);
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                     S_IRUSR | S_IWUSR));
  if (!fd.valid()) return private_file_error("make", path, errno);
  return fd;
}

Result<UniqueFd> append_private_file(const std::string& path) {
  // Without waiting, should it be a pipe.
  return regular_file(
      UniqueFd(::open(path.c_str(),
                      O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                      S_IRUSR | S_IWUSR)),
      "write", path);
}

Result<UniqueFd> open_private_file(const std::string& path) {
  return regular_file(
      UniqueFd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)), "read", path);
}

Status replace_private_file(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".tmp";
  VESTA_ASSIGN(const UniqueFd fd, create_private_file(temporary));
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const ssize_t written = ::write(fd.get(), bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      error = written == 0 ? EIO : errno;
    }
  }
  if (error == 0 && ::fdatasync(fd.get()) != 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(temporary.c_str());
  return private_file_error("write", path, error);
}

}  // namespace vesta
