#include "agent/process/target_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
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
// opened for reading. What the kernel knows of it is enough for that: no file system is asked.
Result<TargetFile> open_regular(const UniqueFd& path_fd, const std::string& what,
                                const DeviceCheck& check) {
  struct statx info {};
  if (::statx(path_fd.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &info) != 0) {
    return open_error(what, errno);
  }
  if (!S_ISREG(info.stx_mode)) {
    return Error{ErrorCode::kInvalidInput, fmt::format("{} is not a regular file", what), ""};
  }
  if (check && !check(makedev(info.stx_dev_major, info.stx_dev_minor))) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{} is on a file system that a process serves", what), ""};
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
                                 uint64_t end, const DeviceCheck& check) {
  const std::string path = fmt::format("{}/{}/map_files/{:x}-{:x}", proc_root, pid, start, end);
  const UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd.valid()) return open_error(path, errno);
  return open_regular(fd, path, check);
}

Result<TargetFile> open_in_root(int root_fd, const std::string& path, const DeviceCheck& check) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_CACHED;
  UniqueFd fd(static_cast<int>(::syscall(SYS_openat2, root_fd, path.c_str(), &how, sizeof(how))));
  if (!fd.valid() && errno == EINVAL) {  // RESOLVE_CACHED came with Linux 5.12
    how.resolve &= ~static_cast<uint64_t>(RESOLVE_CACHED);
    fd = UniqueFd(
        static_cast<int>(::syscall(SYS_openat2, root_fd, path.c_str(), &how, sizeof(how))));
  }
  if (!fd.valid()) return open_error(path, errno);
  return open_regular(fd, path, check);
}

Result<TargetFile> open_own_path(const std::string& path, const DeviceCheck& check) {
  const UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd.valid()) return open_error(path, errno);
  return open_regular(fd, path, check);
}

bool is_served_by_process(std::string_view mountinfo, uint64_t device) {
  // proc(5): "36 35 98:0 /root /mount/point options … - type source options"
  const std::string wanted = fmt::format(" {}:{} ", major(device), minor(device));
  while (!mountinfo.empty()) {
    const size_t end = mountinfo.find('\n');
    const std::string_view line = mountinfo.substr(0, end);
    mountinfo.remove_prefix(end == std::string_view::npos ? mountinfo.size() : end + 1);
    // The third field; blanks in paths are escaped.
    const size_t first = line.find(' ');
    const size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
    if (second == std::string_view::npos || !line.substr(second).starts_with(wanted)) continue;
    const size_t dash = line.find(" - ", second);
    if (dash == std::string_view::npos) continue;
    return line.substr(dash + 3).starts_with("fuse");
  }
  return false;
}

}  // namespace vesta
