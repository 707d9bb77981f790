#include "server/native/source_text.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "testing/temporary_folder.h"

namespace vesta::server {
namespace {

class SourceTextTest : public ::testing::Test {
 protected:
  SourceTextTest() {
    std::filesystem::create_directories(folder_.path("src/lib"));
    write("src/main.cc", "int main() {\n}\n");
    write("src/lib/a.cc", "a\n");
    write("secret", "secret\n");
    write("src-other/x.cc", "other\n");
  }
  void write(const std::string& name, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(folder_.path(name)).parent_path());
    std::ofstream(folder_.path(name), std::ios::binary) << text;
  }
  // The text, or the error in brackets.
  std::string read(std::string_view path) const {
    auto text = read_source(folders_, path);
    return text.ok() ? *text : "[" + text.error().message + "]";
  }
  ErrorCode problem(std::string_view path) const {
    const auto text = read_source(folders_, path);
    EXPECT_FALSE(text.ok()) << path << ": " << *text;
    return text.ok() ? ErrorCode::kUsage : text.error().code;
  }

  TemporaryFolder folder_;
  std::vector<SourceFolder> folders_ = {{"/build/app", folder_.path("src")}};
};

TEST_F(SourceTextTest, IsReadFromTheFolderOfItsPrefix) {
  EXPECT_EQ(read("/build/app/main.cc"), "int main() {\n}\n");
  EXPECT_EQ(read("/build/app//lib/a.cc"), "a\n");
  EXPECT_EQ(problem("/build/app/none.cc"), ErrorCode::kNotFound);
  EXPECT_EQ(problem("/build/application/main.cc"), ErrorCode::kNotFound);
  EXPECT_EQ(problem("/usr/include/stdio.h"), ErrorCode::kNotFound);
  EXPECT_EQ(problem("main.cc"), ErrorCode::kNotFound);
  EXPECT_EQ(problem(""), ErrorCode::kNotFound);
  // The longest prefix counts, wherever it stands.
  folders_ = {{"", folder_.path("src-other")}, {"/build/app/lib/", folder_.path("src/lib")}};
  EXPECT_EQ(read("/build/app/lib/a.cc"), "a\n");
  EXPECT_EQ(read("x.cc"), "other\n");
  EXPECT_EQ(read("/x.cc"), "other\n");
  folders_.clear();
  EXPECT_EQ(problem("x.cc"), ErrorCode::kNotFound);
}

TEST_F(SourceTextTest, NeverComesFromOutside) {
  EXPECT_EQ(problem("/build/app/../secret"), ErrorCode::kPermission);
  EXPECT_EQ(problem("/build/app/lib/../../secret"), ErrorCode::kPermission);
  EXPECT_EQ(problem("/build/app/lib/../main.cc"), ErrorCode::kPermission);
  EXPECT_EQ(problem("/build/app/.."), ErrorCode::kPermission);
  EXPECT_EQ(problem("/build/app/"), ErrorCode::kPermission);
  EXPECT_EQ(problem("/build/app"), ErrorCode::kNotFound);
  EXPECT_EQ(problem(folder_.path("secret")), ErrorCode::kNotFound);
  EXPECT_EQ(problem(std::string_view("/build/app/main.cc\0.txt", 23)), ErrorCode::kPermission);
  EXPECT_EQ(problem("/build/app//etc/passwd"), ErrorCode::kNotFound);
  EXPECT_EQ(problem("/build/app/" + std::string(10'000, 'a')), ErrorCode::kIo);
}

TEST_F(SourceTextTest, FollowsLinksOnlyWithinTheFolder) {
  const auto link = [&](const std::string& to, const std::string& name) {
    std::filesystem::create_symlink(to, folder_.path("src/" + name));
  };
  link("lib/a.cc", "inside");
  link("../secret", "outside");
  link(folder_.path("secret"), "absolute");
  link("..", "up");
  link("loop", "loop");
  link("/proc/self/root", "magic");
  EXPECT_EQ(read("/build/app/inside"), "a\n");
  EXPECT_EQ(problem("/build/app/outside"), ErrorCode::kPermission);
  EXPECT_EQ(problem("/build/app/absolute"), ErrorCode::kPermission);
  EXPECT_EQ(problem("/build/app/up/secret"), ErrorCode::kPermission);
  EXPECT_EQ(problem("/build/app/loop"), ErrorCode::kPermission);
  EXPECT_EQ(problem("/build/app/magic/etc/passwd"), ErrorCode::kPermission);
}

TEST_F(SourceTextTest, IsARegularFileOfBoundedSize) {
  ASSERT_EQ(::mkfifo(folder_.path("src/pipe").c_str(), 0600), 0);
  EXPECT_EQ(problem("/build/app/pipe"), ErrorCode::kUnsupported);
  EXPECT_EQ(problem("/build/app/lib"), ErrorCode::kUnsupported);
  write("src/most", std::string(kMostSourceBytes, 'x'));
  EXPECT_EQ(read("/build/app/most").size(), kMostSourceBytes);
  write("src/more", std::string(kMostSourceBytes + 1, 'x'));
  EXPECT_EQ(problem("/build/app/more"), ErrorCode::kLimit);
}

TEST_F(SourceTextTest, IsValidText) {
  write("src/bad", "a\xff\nb\n");
  EXPECT_EQ(read("/build/app/bad"), "a\xef\xbf\xbd\nb\n");
}

TEST(LinesOf, EndWithLineFeeds) {
  using Lines = std::vector<std::string_view>;
  EXPECT_EQ(lines_of(""), Lines());
  EXPECT_EQ(lines_of("\n"), Lines{""});
  EXPECT_EQ(lines_of("a\r\n\nb"), (Lines{"a", "", "b"}));
  EXPECT_EQ(lines_of("a\n"), Lines{"a"});
}

}  // namespace
}  // namespace vesta::server
