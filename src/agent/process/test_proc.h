// A /proc made of plain files, and a file with code to map. For tests only.
#pragma once

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "testing/temporary_folder.h"

namespace vesta::agent {

inline void write_text(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::trunc) << text;
}

class TestProc {
 public:
  const std::string& root() const { return folder_.path(); }

  void add(uint32_t pid, uint32_t parent, std::string_view comm, std::string_view maps,
           uint64_t start_ticks = 100) const {
    const std::string dir = fmt::format("{}/{}", root(), pid);
    std::filesystem::create_directories(dir);
    write_text(dir + "/stat",
               fmt::format("{} ({}) S {} 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 {} 0 0\n", pid,
                           comm, parent, start_ticks));
    write_text(dir + "/maps", maps);
    write_text(dir + "/cgroup", "0::/test.slice\n");
    write_text(dir + "/status", "Uid:\t0\t1000\t0\t0\nNSpid:\t5\n");
  }
  void set_maps(uint32_t pid, std::string_view maps) const {
    write_text(fmt::format("{}/{}/maps", root(), pid), maps);
  }
  void remove(uint32_t pid) const {
    std::filesystem::remove_all(fmt::format("{}/{}", root(), pid));
  }

 private:
  TemporaryFolder folder_;
};

// A line of /proc/PID/maps for a file that exists.
inline std::string maps_line(uint64_t start, uint64_t end, uint64_t offset,
                             const std::string& path) {
  struct stat info {};
  ::stat(path.c_str(), &info);
  return fmt::format("{:x}-{:x} r-xp {:08x} {:02x}:{:02x} {} {}\n", start, end, offset,
                     major(info.st_dev), minor(info.st_dev), info.st_ino, path);
}

}  // namespace vesta::agent
