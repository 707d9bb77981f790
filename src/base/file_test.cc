#include "base/file.h"

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

class FileTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }
  TemporaryFolder folder_;
};

TEST_F(FileTest, ReadsBackWhatWasWritten) {
  ASSERT_TRUE(write_file(path("a"), "hello").ok());
  const auto file = InputFile::open(path("a"), 100);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->bytes(), "hello");
}

TEST_F(FileTest, ReadsTheSameAfterItsPagesWereReleased) {
  const std::string text(100'000, 'x');
  ASSERT_TRUE(write_file(path("a"), text).ok());
  const auto file = InputFile::open(path("a"), 1 << 20);
  ASSERT_TRUE(file.ok());
  file->release_pages();
  EXPECT_EQ(file->bytes(), text);
  const InputFile owned = InputFile::from_bytes("hello");
  owned.release_pages();
  EXPECT_EQ(owned.bytes(), "hello");
}

// A word of a file that is searched here and there would take 2 MB.
TEST_F(FileTest, AnOpenFileIsNotMappedInHugePages) {
  VESTA_REQUIRE_OR_SKIP(std::filesystem::exists("/sys/kernel/mm/transparent_hugepage"),
                        "this kernel has no huge pages");
  ASSERT_TRUE(write_file(path("a"), std::string(1 << 20, 'x')).ok());
  const UniqueFd fd(::open(path("a").c_str(), O_RDONLY | O_CLOEXEC));
  const auto file = InputFile::from_fd(fd.get(), 1 << 20);
  ASSERT_TRUE(file.ok());
  std::ifstream smaps("/proc/self/smaps");
  std::string flags;
  bool is_ours = false;
  for (std::string line; std::getline(smaps, line) && flags.empty();) {
    if (line.find(path("a")) != std::string::npos) is_ours = true;
    if (is_ours && line.starts_with("VmFlags:")) flags = line + " ";
  }
  EXPECT_NE(flags.find(" nh "), std::string::npos) << flags;
}

TEST_F(FileTest, RefusesMoreThanTheLimit) {
  ASSERT_TRUE(write_file(path("a"), std::string(101, 'x')).ok());
  const auto file = InputFile::open(path("a"), 100);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, ErrorCode::kLimit);
}

TEST_F(FileTest, SaysWhatIsWrongWithThePath) {
  EXPECT_EQ(InputFile::open(path("none"), 100).error().code, ErrorCode::kNotFound);
  EXPECT_NE(InputFile::open(folder_.path(), 100).error().message.find("is a folder"),
            std::string::npos);
}

TEST_F(FileTest, FailedWriteLeavesTheOldFileAndNoRubbish) {
  ASSERT_TRUE(write_file(path("a"), "old").ok());
  EXPECT_FALSE(write_file(path("missing/a"), "new").ok());
  EXPECT_EQ(InputFile::open(path("a"), 100)->bytes(), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(FileTest, WrittenFilesAreForTheirOwnerAlone) {
  const mode_t mask = ::umask(0);
  ASSERT_TRUE(write_file(path("a"), "x").ok());
  ::umask(mask);
  struct stat info {};
  ASSERT_EQ(::stat(path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

}  // namespace
}  // namespace vesta
