#include "agent/self/startup_pages.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace vesta::agent {
namespace {

// Kilobytes of files in memory.
uint64_t resident_of_files() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssFile:")) return std::stoull(line.substr(8));
  }
  return 0;
}

TEST(StartupPages, LeaveMemoryAndComeBackWhenNeeded) {
  const uint64_t before = resident_of_files();
  ASSERT_GT(before, 0U);
  if (release_startup_pages() == 0) GTEST_SKIP() << "the kernel has no MADV_PAGEOUT";
  EXPECT_LE(resident_of_files(), before);
  // Code that nobody has run yet, and code that was.
  EXPECT_EQ(std::to_string(12.5), "12.500000");
}

}  // namespace
}  // namespace vesta::agent
