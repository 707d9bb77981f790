#include "runtimes/runtime_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "base/file.h"
#include "testing/temporary_folder.h"

namespace vesta {
namespace {

TEST(Runtimes, NumbersAreNotUsedTwice) {
  std::set<uint8_t> numbers;
  for (const RuntimeKind& kind : runtime_kinds()) {
    EXPECT_NE(kind.number, 0U) << kind.name;
    EXPECT_TRUE(numbers.insert(kind.number).second) << kind.name;
    EXPECT_EQ(find_runtime(kind.number), &kind);
  }
  EXPECT_EQ(find_runtime(0), nullptr);
  EXPECT_EQ(find_runtime(255), nullptr);
}

class ProcessRuntimesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ + "/tmp");
    root_ = UniqueFd(::open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(root_.valid());
  }
  void add_line(const std::string& line) const {
    std::ofstream(folder_ + "/tmp/perf-7.map", std::ios::app) << line << "\n";
  }
  RuntimeProcess process() const { return {7, ::getuid(), root_.get()}; }

  TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  UniqueFd root_;
};

TEST_F(ProcessRuntimesTest, CodeOfAJitIsNamedByItsPerfMapAsThatGrows) {
  ProcessRuntimes runtimes(process());
  std::vector<SourceFrame> frames;
  EXPECT_FALSE(runtimes.name_code(0x1010, frames));
  add_line("1000 20 first");
  ASSERT_TRUE(runtimes.name_code(0x1010, frames));
  EXPECT_EQ(frames[0].name, "first");
  frames.clear();
  EXPECT_FALSE(runtimes.name_code(0x2010, frames));
  add_line("2000 20 second");
  ASSERT_TRUE(runtimes.name_code(0x2010, frames));
  EXPECT_EQ(frames[0].name, "second");
}

TEST_F(ProcessRuntimesTest, AFrameOfARuntimeThatNobodyKnowsHasNoName) {
  ProcessRuntimes runtimes(process());
  std::vector<SourceFrame> frames;
  EXPECT_FALSE(runtimes.name_frame(200, {1, 2}, frames));
  for (const RuntimeKind& kind : runtime_kinds())
    EXPECT_FALSE(runtimes.name_frame(kind.number, {1, 2}, frames)) << kind.name;
  EXPECT_TRUE(frames.empty());
}

}  // namespace
}  // namespace vesta
