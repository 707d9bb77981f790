#include "server/file_stamp.h"

#include <fmt/format.h>
#include <sys/stat.h>

namespace vesta::server {

std::string file_stamp(const std::string& path) {
  struct stat info {};
  if (path.empty() || ::stat(path.c_str(), &info) != 0) return std::string(kNoFile);
  return fmt::format("{}:{}:{}:{}.{:09}", info.st_dev, info.st_ino, info.st_size,
                     info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

}  // namespace vesta::server
