#include "agent/process/target_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace vesta {
namespace {

Error open_error(const std::string& what, int error_number) {
  Error error{ErrorCode::kIo, fmt::format("cannot open {}: {}", what, std::strerror(error_number)),
              ""};
  if (error_number == ENOENT || error_number == ESRCH) {
    error.code = ErrorCode::kNotFound;
  } else if (error_number == EACCES || error_number == EPERM) {
    error.code = ErrorCode::kPermission;
    error.hint = "run as root or grant CAP_CHECKPOINT_RESTORE and CAP_SYS_PTRACE";
  }
  return error;
}

int64_t to_ns(const timespec& time) {
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// `path_fd` is open with O_PATH, which touches nothing; only what turns out to be a regular file is
// opened for reading.
Result<TargetFile> open_regular(const UniqueFd& path_fd, const std::string& what) {
  struct stat info {};
  if (::fstat(path_fd.get(), &info) != 0) return open_error(what, errno);
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::kInvalidInput, fmt::format("{} is not a regular file", what), ""};
  }
  const std::string self = fmt::format("/proc/self/fd/{}", path_fd.get());
  TargetFile file;
  file.fd = UniqueFd(::open(self.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!file.fd.valid()) return open_error(what, errno);
  VESTA_ASSIGN(file.identity, identity_of(file.fd.get()));
  return file;
}

}  // namespace

Result<FileIdentity> identity_of(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return open_error("a file", errno);
  return FileIdentity{info.st_dev, info.st_ino, static_cast<uint64_t>(info.st_size),
                      to_ns(info.st_mtim), to_ns(info.st_ctim)};
}

Result<TargetFile> open_map_file(const std::string& proc_root, uint32_t pid, uint64_t start,
                                 uint64_t end) {
  const std::string path = fmt::format("{}/{}/map_files/{:x}-{:x}", proc_root, pid, start, end);
  const UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd.valid()) return open_error(path, errno);
  return open_regular(fd, path);
}

Result<TargetFile> open_in_root(int root_fd, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const UniqueFd fd(
      static_cast<int>(::syscall(SYS_openat2, root_fd, path.c_str(), &how, sizeof(how))));
  if (!fd.valid()) return open_error(path, errno);
  return open_regular(fd, path);
}

Result<TargetFile> open_own_path(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd.valid()) return open_error(path, errno);
  return open_regular(fd, path);
}

}  // namespace vesta
