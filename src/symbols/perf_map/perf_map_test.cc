#include "symbols/perf_map/perf_map.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/test_requirements.h"
#include "testing/temporary_folder.h"

namespace vesta {
namespace {

JitRanges ranges_of(std::string_view text) {
  JitRanges ranges(1000, 1 << 20);
  ranges.add_lines(text);
  ranges.settle();
  return ranges;
}

TEST(JitRanges, ReadsTheLinesThatJitsWrite) {
  const auto ranges = ranges_of(
      "3ef414c0 398 Interpreter\n"
      "0x7f00 0x10 LazyCompile:*work /srv/app.js:10:5\r\n"
      "7F20 10 py::outer:/app/main.py\n");
  EXPECT_EQ(ranges.lookup(0x3ef414c0), "Interpreter");
  EXPECT_EQ(ranges.lookup(0x3ef414c0 + 0x397), "Interpreter");
  EXPECT_EQ(ranges.lookup(0x3ef414c0 + 0x398), std::nullopt);
  EXPECT_EQ(ranges.lookup(0x7f08), "LazyCompile:*work /srv/app.js:10:5");
  EXPECT_EQ(ranges.lookup(0x7f20), "py::outer:/app/main.py");
  EXPECT_EQ(ranges.lookup(0), std::nullopt);
}

TEST(JitRanges, LetsLaterLinesTakeOverMemory) {
  const auto ranges = ranges_of("1000 100 old\n1040 20 inside\n10f0 20 over_the_end\n");
  EXPECT_EQ(ranges.lookup(0x1000), "old");
  EXPECT_EQ(ranges.lookup(0x103f), "old");
  EXPECT_EQ(ranges.lookup(0x1040), "inside");
  EXPECT_EQ(ranges.lookup(0x1060), "old");
  EXPECT_EQ(ranges.lookup(0x10f0), "over_the_end");
  EXPECT_EQ(ranges.lookup(0x110f), "over_the_end");
  EXPECT_EQ(ranges.lookup(0x1110), std::nullopt);
  EXPECT_EQ(ranges_of("1040 20 inside\n1000 100 newer\n").lookup(0x1040), "newer");
}

TEST(JitRanges, CountsLinesThatAreNone) {
  const auto ranges = ranges_of(
      "nonsense\n1000\n1000 10\n1000 10 \n1000 0 empty\nffffffffffffffff 2 wraps\n"
      "1ffffffffffffffff 1 too_big\n-1 10 negative\n\n2000 10 good\n");
  EXPECT_EQ(ranges.bad_lines(), 8U);
  EXPECT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges.lookup(0x2000), "good");
}

TEST(JitRanges, TakesCompleteLinesOnly) {
  JitRanges ranges(10, 1000);
  EXPECT_EQ(ranges.add_lines("1000 10 one\n2000 10 tw"), 12U);
}

TEST(JitRanges, StaysWithinItsLimits) {
  JitRanges ranges(100, 1000);
  std::string text;
  char line[64];
  for (int i = 0; i < 10'000; ++i) {
    std::snprintf(line, sizeof(line), "%x 10 function_%d\n", 0x1000 + i * 16, i);
    text += line;
  }
  ranges.add_lines(text);
  ranges.settle();
  EXPECT_LE(ranges.size(), 100U);
  EXPECT_GT(ranges.dropped(), 9000U);
  // Memory used over and over needs no more room.
  JitRanges reused(100, 1000);
  for (int i = 0; i < 10'000; ++i) {
    std::snprintf(line, sizeof(line), "%x 10 function_%d\n", 0x1000 + i % 8 * 16, i);
    reused.add_lines(line);
  }
  reused.settle();
  EXPECT_EQ(reused.size(), 8U);
  EXPECT_EQ(reused.dropped(), 0U);
  EXPECT_EQ(reused.lookup(0x1000), "function_9992");
  EXPECT_LT(reused.memory_bytes(), 100'000U);
}

class PerfMapTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "tmp");
    root_ = UniqueFd(open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(root_.valid());
  }
  std::filesystem::path file() const { return folder_ / "tmp/perf-42.map"; }
  void write(const std::string& text, bool append = false) {
    std::ofstream(file(), append ? std::ios::app : std::ios::trunc) << text;
  }
  Error error_of(PerfMap& map) {
    auto result = map.refresh(root_.get());
    EXPECT_FALSE(result.ok());
    return result.ok() ? Error{} : result.error();
  }

  TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
  UniqueFd root_;
  PerfMap map_{42, getuid()};
};

TEST_F(PerfMapTest, ReadsOnlyWhatCameSince) {
  write("1000 10 one\n2000 10 tw");
  auto changed = map_.refresh(root_.get());
  ASSERT_TRUE(changed.ok()) << changed.error().message;
  EXPECT_TRUE(*changed);
  EXPECT_EQ(map_.lookup(0x1000), "one");
  EXPECT_EQ(map_.lookup(0x2000), std::nullopt) << "the line is not complete";
  EXPECT_FALSE(*map_.refresh(root_.get()));
  write("o\n3000 10 three\n", true);
  EXPECT_TRUE(*map_.refresh(root_.get()));
  EXPECT_EQ(map_.lookup(0x1000), "one");
  EXPECT_EQ(map_.lookup(0x2000), "two");
  EXPECT_EQ(map_.lookup(0x3000), "three");
}

TEST_F(PerfMapTest, BeginsAnewWhenTheFileShrinksOrIsReplaced) {
  write("1000 10 one\n2000 10 two\n");
  ASSERT_TRUE(map_.refresh(root_.get()).ok());
  write("1000 10 first\n");
  ASSERT_TRUE(*map_.refresh(root_.get()));
  EXPECT_EQ(map_.lookup(0x1000), "first");
  EXPECT_EQ(map_.lookup(0x2000), std::nullopt);
  std::ofstream(folder_ / "tmp/other") << "5000 10 other\n6000 10 and_longer_than_before\n";
  std::filesystem::rename(folder_ / "tmp/other", file());
  ASSERT_TRUE(*map_.refresh(root_.get()));
  EXPECT_EQ(map_.lookup(0x1000), std::nullopt);
  EXPECT_EQ(map_.lookup(0x5000), "other");
}

TEST_F(PerfMapTest, RefusesWhatIsNoPlainFile) {
  EXPECT_EQ(error_of(map_).code, ErrorCode::kNotFound);

  ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
  EXPECT_NE(error_of(map_).message.find("FIFO"), std::string::npos);
  std::filesystem::remove(file());

  std::ofstream(folder_ / "tmp/secret") << "1000 10 secret\n";
  std::filesystem::create_symlink("secret", file());
  EXPECT_NE(error_of(map_).message.find("symbolic link"), std::string::npos);
  std::filesystem::remove(file());

  std::filesystem::create_directory(file());
  EXPECT_NE(error_of(map_).message.find("folder"), std::string::npos);
  std::filesystem::remove(file());

  write("");
  std::filesystem::resize_file(file(), 1ULL << 30);
  const Error error = error_of(map_);
  EXPECT_EQ(error.code, ErrorCode::kLimit);
  EXPECT_NE(error.message.find("1GB"), std::string::npos) << error.message;
}

TEST_F(PerfMapTest, StaysInsideTheRootOfTheProcess) {
  // /tmp of the process is a link to an absolute path: it means the process's own /other.
  std::filesystem::remove(folder_ / "tmp");
  std::filesystem::create_directories(folder_ / "other");
  std::filesystem::create_symlink("/other", folder_ / "tmp");
  std::ofstream(folder_ / "other/perf-42.map") << "1000 10 inside\n";
  ASSERT_TRUE(map_.refresh(root_.get()).ok());
  EXPECT_EQ(map_.lookup(0x1000), "inside");
  std::filesystem::remove(folder_ / "tmp");
  const std::filesystem::path outside = folder_.string() + "-outside";
  std::filesystem::create_directories(outside);
  std::ofstream(outside / "perf-42.map") << "1000 10 outside\n";
  std::filesystem::create_symlink("../" + outside.filename().string(), folder_ / "tmp");
  EXPECT_EQ(error_of(map_).code, ErrorCode::kNotFound);
  std::filesystem::remove_all(outside);
}

TEST_F(PerfMapTest, RefusesAFileOfSomeoneElse) {
  VESTA_REQUIRE_OR_SKIP(getuid() == 0, "only root can give files away");
  write("1000 10 planted\n");
  ASSERT_EQ(chown(file().c_str(), 4711, 4711), 0);
  PerfMap map(42, 1000);
  EXPECT_EQ(error_of(map).code, ErrorCode::kPermission);
  EXPECT_EQ(map.lookup(0x1000), std::nullopt);
  ASSERT_EQ(chown(file().c_str(), 0, 0), 0);
  EXPECT_TRUE(map.refresh(root_.get()).ok()) << "root's files are fine: JITs drop privileges";
}

TEST_F(PerfMapTest, SkipsALineWithoutEnd) {
  write("1000 10 one\n" + std::string(3 << 20, 'x') + "\n2000 10 two\n");
  ASSERT_TRUE(map_.refresh(root_.get()).ok());
  EXPECT_EQ(map_.lookup(0x1000), "one");
  EXPECT_EQ(map_.lookup(0x2000), "two");
}

}  // namespace
}  // namespace vesta
