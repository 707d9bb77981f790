#include "server/access/rotating_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace vesta::server {

Result<RotatingFile> RotatingFile::open(RotatingFileOptions options) {
  RotatingFile file(std::move(options));
  VESTA_TRY(file.open_newest());
  return file;
}

Status RotatingFile::open_newest() {
  const std::string& path = options_.path;
  file_ = UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  struct stat info {};
  if (!file_.valid() || ::fstat(file_.get(), &info) != 0) {
    return Error{ErrorCode::kIo, fmt::format("cannot open {}: {}", path, std::strerror(errno)),
                 "check the owner of the data directory"};
  }
  written_ = static_cast<uint64_t>(info.st_size);
  return {};
}

Status RotatingFile::append(std::string_view lines) {
  if (written_ > 0 && written_ + lines.size() > options_.max_bytes) VESTA_TRY(rotate());
  while (!lines.empty()) {
    const ssize_t written = ::write(file_.get(), lines.data(), lines.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return Error{ErrorCode::kIo,
                   fmt::format("cannot write {}: {}", options_.path, std::strerror(errno)),
                   {}};
    }
    written_ += static_cast<uint64_t>(written);
    lines.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status RotatingFile::rotate() {
  const std::string& path = options_.path;
  for (int i = options_.files - 1; i > 1; --i) {
    std::rename(fmt::format("{}.{}", path, i - 1).c_str(), fmt::format("{}.{}", path, i).c_str());
  }
  if (options_.files > 1) {
    std::rename(path.c_str(), fmt::format("{}.1", path).c_str());
  } else {
    ::unlink(path.c_str());
  }
  return open_newest();
}

}  // namespace vesta::server
