#include "symbols/perf_map/perf_map.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/units.h"

namespace vesta {
namespace {

constexpr size_t kPieceBytes = 1 << 20;

Error refuse(ErrorCode code, const std::string& path, const std::string& why) {
  return {code, "cannot use the JIT names in /" + path + ": " + why, {}};
}

std::string kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "not a regular file";
}

}  // namespace

PerfMap::PerfMap(pid_t pid, uid_t owner, const Limits& limits)
    : limits_(limits),
      owner_(owner),
      path_("tmp/perf-" + std::to_string(pid) + ".map"),
      ranges_(limits.max_ranges, limits.max_name_bytes) {}

const PerfMap::Limits& PerfMap::default_limits() {
  static const Limits kLimits;
  return kLimits;
}

Result<UniqueFd> PerfMap::open_file(int root) const {
  open_how how{};
  // O_NONBLOCK: opening a FIFO must not wait for a writer. RESOLVE_IN_ROOT: a link to /etc in a
  // container is the container's /etc.
  how.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  UniqueFd fd(static_cast<int>(syscall(SYS_openat2, root, path_.c_str(), &how, sizeof(how))));
  if (fd.valid()) return fd;
  switch (errno) {
    case ENOENT:
    case ENOTDIR:
      return refuse(ErrorCode::kNotFound, path_, "no such file");
    case ELOOP:
      return refuse(ErrorCode::kInvalidInput, path_,
                    "it is a symbolic link, or its folder a loop of them");
    case ENXIO:
      return refuse(ErrorCode::kInvalidInput, path_, "it is a socket or a device");
    case EACCES:
    case EPERM: {
      Error error = refuse(ErrorCode::kPermission, path_, std::strerror(errno));
      error.hint = "run as root or grant CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH";
      return error;
    }
    default:
      return refuse(ErrorCode::kIo, path_, std::strerror(errno));
  }
}

Result<bool> PerfMap::refresh(int root) {
  VESTA_ASSIGN(const UniqueFd fd, open_file(root));
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return refuse(ErrorCode::kIo, path_, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) {
    return refuse(ErrorCode::kInvalidInput, path_, "it is " + kind_of(info.st_mode));
  }
  if (info.st_uid != owner_ && info.st_uid != 0) {
    return refuse(ErrorCode::kPermission, path_,
                  "it belongs to user " + std::to_string(info.st_uid) + ", the process to user " +
                      std::to_string(owner_));
  }
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size > limits_.max_file_bytes) {
    return refuse(ErrorCode::kLimit, path_,
                  "it has " + format_value(info.st_size, "bytes") + ", more than " +
                      format_value(static_cast<int64_t>(limits_.max_file_bytes), "bytes"));
  }
  const bool replaced = info.st_dev != device_ || info.st_ino != inode_ || size < offset_;
  if (replaced) {
    ranges_.clear();
    offset_ = 0;
    device_ = info.st_dev;
    inode_ = info.st_ino;
  }
  VESTA_ASSIGN(const bool more, read_more(fd.get(), size));
  return more || replaced;
}

// Until `size`, whatever is written meanwhile: a process that writes faster than we read would
// keep us here for ever.
Result<bool> PerfMap::read_more(int fd, uint64_t size) {
  std::string buffer;
  size_t filled = 0;
  bool more = false;
  while (offset_ + filled < size) {
    const size_t wanted =
        static_cast<size_t>(std::min<uint64_t>(kPieceBytes, size - offset_ - filled));
    buffer.resize(filled + wanted);
    const ssize_t got =
        pread(fd, buffer.data() + filled, wanted, static_cast<off_t>(offset_ + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refuse(ErrorCode::kIo, path_, std::strerror(errno));
    if (got == 0) break;  // cut while we read; the next time tells
    filled += static_cast<size_t>(got);
    size_t taken = ranges_.add_lines(std::string_view(buffer).substr(0, filled));
    // A line that fills a whole piece is none.
    if (taken == 0 && filled >= kPieceBytes) taken = filled;
    offset_ += taken;
    filled -= taken;
    buffer.erase(0, taken);
    more = more || taken > 0;
  }
  ranges_.settle();
  return more;
}

}  // namespace vesta
