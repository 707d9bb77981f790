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

namespace vesta::agent {
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

UniqueFd open_how_at(int folder_fd, const std::string& path, uint64_t flags, uint64_t resolve) {
  open_how how{};
  how.flags = flags;
  how.resolve = resolve;
  return UniqueFd(
      static_cast<int>(::syscall(SYS_openat2, folder_fd, path.c_str(), &how, sizeof(how))));
}

// Below the root, if the kernel has the way there in its cache.
UniqueFd open_cached(int root_fd, const std::string& path, uint64_t flags) {
  constexpr uint64_t kInRoot = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  UniqueFd fd = open_how_at(root_fd, path, flags, kInRoot | RESOLVE_CACHED);
  // RESOLVE_CACHED came with Linux 5.12
  if (!fd.valid() && errno == EINVAL) fd = open_how_at(root_fd, path, flags, kInRoot);
  return fd;
}

Status check_device(const UniqueFd& path_fd, const std::string& what, const DeviceCheck& check) {
  if (!check) return {};
  struct statx info {};
  if (::statx(path_fd.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &info) != 0)
    return open_error(what, errno);
  if (check(makedev(info.stx_dev_major, info.stx_dev_minor))) return {};
  return Error{ErrorCode::kUnsupported,
               fmt::format("{} is on a file system that a user process serves", what), ""};
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
  VESTA_TRY(check_device(path_fd, what, check));
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
  const UniqueFd fd = open_cached(root_fd, path, O_PATH | O_CLOEXEC);
  if (!fd.valid()) return open_error(path, errno);
  return open_regular(fd, path, check);
}

Result<TargetFile> open_in_known_folder(int root_fd, const std::string& folder,
                                        const std::string& name, const DeviceCheck& check) {
  const UniqueFd parent = open_cached(root_fd, folder, O_PATH | O_CLOEXEC | O_DIRECTORY);
  if (!parent.valid()) return open_error(folder, errno);
  VESTA_TRY(check_device(parent, folder, check));
  const UniqueFd fd = open_how_at(parent.get(), name, O_PATH | O_CLOEXEC,
                                  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
  if (!fd.valid()) return open_error(folder + "/" + name, errno);
  return open_regular(fd, folder + "/" + name, check);
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

}  // namespace vesta::agent
