#include "agent/limits/startup_pages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

#include "base/file.h"
#include "base/test_requirements.h"

namespace vesta::agent {
namespace {

constexpr size_t kBytes = 8 << 20;

// A file of this test alone, mapped as a library's constants are, and read.
class MappedPages {
 public:
  MappedPages() {
    std::string path = ::testing::TempDir() + "vesta-pages-XXXXXX";
    const UniqueFd fd(::mkstemp(path.data()));
    ::unlink(path.c_str());
    const std::string text(kBytes, 'v');
    // On disk: what is not there yet cannot leave memory.
    if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::fsync(fd.get()) != 0)
      return;
    memory_ = ::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  }
  ~MappedPages() { ::munmap(memory_, kBytes); }
  MappedPages(const MappedPages&) = delete;
  MappedPages& operator=(const MappedPages&) = delete;

  bool is_mapped() const { return memory_ != MAP_FAILED; }
  bool can_leave() const { return ::madvise(memory_, kBytes, MADV_PAGEOUT) == 0; }
  // Bytes that are what they were.
  size_t read() const {
    const auto* bytes = static_cast<const volatile char*>(memory_);
    size_t same = 0;
    for (size_t i = 0; i < kBytes; ++i) same += bytes[i] == 'v' ? 1 : 0;
    return same;
  }
  // Kilobytes of it in the memory of this process.
  uint64_t resident() const {
    char start[32];
    std::snprintf(start, sizeof(start), "%lx-", reinterpret_cast<unsigned long>(memory_));
    std::ifstream maps("/proc/self/smaps");
    bool is_here = false;
    for (std::string line; std::getline(maps, line);) {
      if (line.find('-') != std::string::npos && line.find(':') > line.find('-'))
        is_here = line.starts_with(start);
      if (is_here && line.starts_with("Rss:")) return std::stoull(line.substr(4));
    }
    return 0;
  }

 private:
  void* memory_ = MAP_FAILED;
};

TEST(StartupPages, LeaveMemoryAndComeBackWhenNeeded) {
  const MappedPages pages;
  ASSERT_TRUE(pages.is_mapped());
  VESTA_REQUIRE_OR_SKIP(pages.can_leave(), "the kernel has no MADV_PAGEOUT (Linux 5.4)");
  ASSERT_EQ(pages.read(), kBytes);
  const uint64_t before = pages.resident();
  ASSERT_GE(before, kBytes / 1024 * 9 / 10);
  EXPECT_GE(release_startup_pages(), kBytes);
  EXPECT_LE(pages.resident(), before / 2);
  EXPECT_EQ(pages.read(), kBytes);
  EXPECT_EQ(pages.resident(), before);
}

}  // namespace
}  // namespace vesta::agent
