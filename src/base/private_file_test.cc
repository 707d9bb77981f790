#include "base/private_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "testing/temporary_folder.h"

namespace vesta {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class PrivateFileTest : public ::testing::Test {
 protected:
  PrivateFileTest() { std::ofstream(victim()) << "precious"; }

  std::string in(const std::string& name) const { return folder_.path(name); }
  std::string victim() const { return in("victim"); }
  static std::string text(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  static mode_t mode_of(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(::lstat(path.c_str(), &info), 0);
    return info.st_mode;
  }

  TemporaryFolder folder_;
};

TEST_F(PrivateFileTest, NewFilesAreForTheOwnerAndReplaceLinks) {
  const mode_t before = ::umask(0);
  fs::create_symlink(victim(), in("new"));
  const auto fd = create_private_file(in("new"));
  ASSERT_TRUE(fd.ok()) << fd.error().message;
  EXPECT_EQ(::write(fd->get(), "mine", 4), 4);
  EXPECT_EQ(mode_of(in("new")), S_IFREG | 0600U);
  EXPECT_EQ(text(in("new")), "mine");
  EXPECT_EQ(text(victim()), "precious");
  ::umask(before);
}

TEST_F(PrivateFileTest, AppendsToFilesAndToNothingElse) {
  ASSERT_TRUE(append_private_file(in("log")).ok());
  EXPECT_EQ(mode_of(in("log")) & 0777U, 0600U);
  fs::create_symlink(victim(), in("link"));
  fs::create_symlink(in("missing"), in("dangling"));
  ASSERT_EQ(::mkfifo(in("pipe").c_str(), 0600), 0);
  for (const char* name : {"link", "dangling"}) {
    const auto fd = append_private_file(in(name));
    ASSERT_FALSE(fd.ok()) << name;
    EXPECT_THAT(fd.error().message, HasSubstr("it is a symbolic link"));
  }
  EXPECT_FALSE(append_private_file(in("pipe")).ok());
  EXPECT_FALSE(fs::exists(in("missing")));
  EXPECT_EQ(text(victim()), "precious");
}

TEST_F(PrivateFileTest, ReadsFilesAndNothingElse) {
  EXPECT_TRUE(open_private_file(victim()).ok());
  fs::create_symlink(victim(), in("link"));
  ASSERT_EQ(::mkfifo(in("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(open_private_file(in("link")).ok());
  EXPECT_FALSE(open_private_file(in("pipe")).ok());
}

TEST_F(PrivateFileTest, ReplacesWhatHasTheName) {
  fs::create_symlink(victim(), in("state"));
  fs::create_symlink(victim(), in("state.tmp"));
  ASSERT_TRUE(replace_private_file(in("state"), "new").ok());
  EXPECT_EQ(text(in("state")), "new");
  EXPECT_EQ(mode_of(in("state")), S_IFREG | 0600U);
  EXPECT_EQ(text(victim()), "precious");
  EXPECT_FALSE(fs::exists(fs::symlink_status(in("state.tmp"))));
  const auto failed = replace_private_file(in("no/such/folder"), "new");
  EXPECT_FALSE(failed.ok());
}

}  // namespace
}  // namespace vesta
