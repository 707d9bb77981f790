#include "store/rocksdb/disk_reserve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/mutex.h"

namespace vesta::rocks {

DiskReserve::DiskReserve(std::string path, uint64_t bytes) : path_(std::move(path)), bytes_(bytes) {
  struct statvfs disk {};
  const std::string directory = path_.substr(0, path_.rfind('/'));
  if (bytes_ == 0 || ::statvfs(directory.c_str(), &disk) != 0) {
    bytes_ = 0;
    is_held_ = true;
    return;
  }
  bytes_ = std::min<uint64_t>(bytes_, uint64_t{disk.f_blocks} * disk.f_frsize / 20);
  struct stat info {};
  is_held_ =
      ::stat(path_.c_str(), &info) == 0 && static_cast<uint64_t>(info.st_blocks) * 512 >= bytes_;
}

bool DiskReserve::hold() {
  const MutexLock lock(mutex_);
  if (is_held_) return true;
  struct statvfs disk {};
  const std::string directory = path_.substr(0, path_.rfind('/'));
  if (::statvfs(directory.c_str(), &disk) == 0 &&
      uint64_t{disk.f_bavail} * disk.f_frsize < 2 * bytes_)
    return false;
  const UniqueFd fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const int error = fd.valid() ? ::posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes_)) : errno;
  if (error == ENOSPC || error == EDQUOT) {
    ::unlink(path_.c_str());
    return false;
  }
  // A file system that cannot set room aside must not keep writes from being taken.
  is_held_ = true;
  return true;
}

void DiskReserve::release() {
  const MutexLock lock(mutex_);
  if (!is_held_ || bytes_ == 0) return;
  ::unlink(path_.c_str());
  is_held_ = false;
}

bool DiskReserve::is_held() const {
  const MutexLock lock(mutex_);
  return is_held_;
}

}  // namespace vesta::rocks
