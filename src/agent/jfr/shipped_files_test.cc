#include "agent/jfr/shipped_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/file.h"
#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

class ShippedFilesTest : public ::testing::Test {
 protected:
  ShippedFiles open(size_t max_files = ShippedFiles::kMaxFiles) const {
    auto shipped = ShippedFiles::open(path_, max_files);
    EXPECT_TRUE(shipped.ok()) << shipped.error().message;
    return std::move(*shipped);
  }
  std::string text() const {
    std::ifstream in(path_);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("shipped");
};

ShippedFile file_of(uint64_t number) {
  return {{number, -5}, {number, number * 7}, false};
}

TEST_F(ShippedFilesTest, LinksAreNeitherReadNorWrittenThrough) {
  const std::string victim = path_ + "-victim";
  std::ofstream(victim) << "precious";
  ShippedFiles shipped = open();
  std::filesystem::create_symlink(victim, path_);
  EXPECT_FALSE(ShippedFiles::open(path_).ok());
  EXPECT_FALSE(shipped.note("/a", file_of(1)).ok());
  // What could not be noted is written anew, in the place of the link.
  ASSERT_TRUE(shipped.note("/b", file_of(2)).ok());
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(path_)));
  EXPECT_EQ(open().size(), 2U);
  std::ifstream in(victim);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "precious");
  std::filesystem::remove(victim);
}

TEST_F(ShippedFilesTest, RemembersAcrossRestarts) {
  const std::string odd = "/a b/\\n\nx.jfr";
  ShippedFile broken = file_of(3);
  broken.is_broken = true;
  {
    ShippedFiles shipped = open();
    ASSERT_TRUE(shipped.note("/a", file_of(1)).ok());
    ASSERT_TRUE(shipped.note(odd, file_of(2)).ok());
    ASSERT_TRUE(shipped.note("/c", broken).ok());
    ASSERT_TRUE(shipped.note("/gone", file_of(4)).ok());
    ASSERT_TRUE(shipped.forget("/gone").ok());
    ASSERT_TRUE(shipped.note("/a", file_of(9)).ok());
  }
  const ShippedFiles shipped = open();
  EXPECT_EQ(shipped.size(), 3U);
  EXPECT_EQ(*shipped.find("/a"), file_of(9));
  EXPECT_EQ(*shipped.find(odd), file_of(2));
  EXPECT_EQ(*shipped.find("/c"), broken);
  EXPECT_EQ(shipped.find("/gone"), nullptr);
  EXPECT_TRUE(shipped.has_shipped(file_of(9).content));
  EXPECT_FALSE(shipped.has_shipped(file_of(1).content));
  EXPECT_FALSE(shipped.has_shipped(broken.content)) << "it was not shipped";
  EXPECT_EQ(shipped.damaged_lines(), 0U);
}

TEST_F(ShippedFilesTest, CutAtAnyByteItKeepsTheWholeLines) {
  {
    ShippedFiles shipped = open();
    for (uint64_t i = 1; i <= 3; ++i)
      ASSERT_TRUE(shipped.note("/" + std::to_string(i), file_of(i)).ok());
  }
  const std::string whole = text();
  for (size_t bytes = 0; bytes <= whole.size(); bytes += 5) {
    ASSERT_TRUE(write_file(path_, whole.substr(0, bytes)).ok());
    ShippedFiles shipped = open();
    const auto lines = static_cast<size_t>(
        std::count(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(bytes), '\n'));
    ASSERT_EQ(shipped.size(), lines) << bytes;
    // What is noted next must not be glued to half a line.
    ASSERT_TRUE(shipped.note("/new", file_of(8)).ok());
    ASSERT_EQ(open().size(), lines + 1) << bytes;
  }
}

TEST_F(ShippedFilesTest, DamagedLinesAreLeftOutAndCounted) {
  {
    ShippedFiles shipped = open();
    for (uint64_t i = 1; i <= 3; ++i)
      ASSERT_TRUE(shipped.note("/" + std::to_string(i), file_of(i)).ok());
  }
  std::string bytes = text();
  bytes[bytes.find('\n') + 30] ^= 1;
  ASSERT_TRUE(write_file(path_, bytes).ok());
  const ShippedFiles shipped = open();
  EXPECT_EQ(shipped.size(), 2U);
  EXPECT_EQ(shipped.damaged_lines(), 1U);
}

TEST_F(ShippedFilesTest, StaysSmallHoweverOftenAFileChanges) {
  ShippedFiles shipped = open();
  for (uint64_t i = 0; i < 1300; ++i) ASSERT_TRUE(shipped.note("/a", file_of(i)).ok());
  const std::string bytes = text();
  EXPECT_LT(std::count(bytes.begin(), bytes.end(), '\n'), 1100);
  EXPECT_EQ(*open().find("/a"), file_of(1299));
}

TEST_F(ShippedFilesTest, TheOldestNotesGoWhenThereAreTooMany) {
  ShippedFiles shipped = open(3);
  for (uint64_t i = 0; i < 5; ++i)
    ASSERT_TRUE(shipped.note("/" + std::to_string(i), file_of(i)).ok());
  EXPECT_THAT(shipped.paths(), ::testing::ElementsAre("/2", "/3", "/4"));
  EXPECT_FALSE(shipped.has_shipped(file_of(0).content));
}

TEST_F(ShippedFilesTest, OneContentUnderTwoNamesIsKnownUntilBothAreGone) {
  ShippedFiles shipped = open();
  ASSERT_TRUE(shipped.note("/a", file_of(1)).ok());
  ASSERT_TRUE(shipped.note("/b", file_of(1)).ok());
  ASSERT_TRUE(shipped.forget("/a").ok());
  EXPECT_TRUE(shipped.has_shipped(file_of(1).content));
  ASSERT_TRUE(shipped.forget("/b").ok());
  EXPECT_FALSE(shipped.has_shipped(file_of(1).content));
}

TEST_F(ShippedFilesTest, WhatCannotBeWrittenStillHoldsForThisProcess) {
  path_ = "/proc/none/shipped";
  ShippedFiles shipped = open();
  EXPECT_EQ(shipped.note("/a", file_of(1)).error().code, ErrorCode::kIo);
  EXPECT_NE(shipped.find("/a"), nullptr);
}

TEST(ShippedNote, LinesThatAreNoNotesAreRefused) {
  const std::string line = note_line("/a", nullptr);
  EXPECT_TRUE(parse_note(std::string_view(line).substr(0, line.size() - 1)));
  for (const char* text : {"", " ", "x", "0", "0 S", "ffffffffffffffff S 1 2 3 /a"})
    EXPECT_FALSE(parse_note(text)) << text;
}

}  // namespace
}  // namespace vesta::agent
