#include "agent/limits/startup_pages.h"

#include <sys/mman.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>

namespace vesta::agent {

uint64_t release_startup_pages() {
  uint64_t released = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uint64_t begin = 0;
    uint64_t end = 0;
    char rights[5] = {};
    uint64_t inode = 0;
    const int fields = std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %*x %*s %" SCNu64,
                                   &begin, &end, rights, &inode);
    // Of what may be written to, pages that were would have to be kept somewhere.
    if (fields != 4 || inode == 0 || rights[1] == 'w') continue;
    // The address is the kernel's, as a number.
    // NOLINTNEXTLINE(performance-no-int-to-ptr,cppcoreguidelines-pro-type-reinterpret-cast)
    if (::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_PAGEOUT) == 0)
      released += end - begin;
  }
  return released;
}

}  // namespace vesta::agent
