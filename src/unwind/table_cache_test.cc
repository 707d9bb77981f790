#include "unwind/table_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/test_requirements.h"
#include "testing/temporary_folder.h"
#include "unwind/test_elf.h"

namespace vesta {
namespace {

namespace fs = std::filesystem;
using testing::Bytes;
using testing::ElfParts;
using testing::kCodeAddress;

// A file with one function, whose frame has this size.
ElfParts parts_with_frame(uint8_t cfa_offset) {
  Bytes cie;
  cie.u32(0xffffffff).u8(4).u8(0).u8(8).u8(0).u8(1).u8(0x78).u8(16);
  cie.u8(0x0c).u8(7).u8(cfa_offset).u8(0x90).u8(1);
  Bytes fde;
  fde.u32(0).u64(kCodeAddress).u64(16);
  Bytes section;
  section.entry(cie).entry(fde);
  ElfParts parts;
  parts.debug_frame = section.str();
  return parts;
}

class TableCacheTest : public ::testing::Test {
 protected:
  UnwindTableCache open(uint64_t max_bytes = 1 << 20) {
    auto cache = UnwindTableCache::open(folder_, {max_bytes});
    EXPECT_TRUE(cache.ok()) << cache.error().message;
    return std::move(cache).value();
  }
  std::vector<fs::path> files() {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(folder_)) out.push_back(entry.path());
    return out;
  }

  TemporaryFolder root_;
  std::string folder_ = root_.path("unwind");
};

TEST_F(TableCacheTest, GivesBackWhatWasBuilt) {
  const auto file = testing::parse_elf(parts_with_frame(48));
  auto cache = open();
  const auto built = cache.table_of(*file);
  ASSERT_TRUE(built.ok());
  auto again = open();
  const auto cached = again.table_of(*file);
  ASSERT_TRUE(cached.ok());
  EXPECT_EQ(cache.counts().stored, 1U);
  EXPECT_EQ(again.counts().hits, 1U);
  EXPECT_EQ(cached->cells, built->cells);
  EXPECT_EQ(rule_at(*cached, kCodeAddress).cfa_offset, 48);
}

TEST_F(TableCacheTest, FindsATableAgainWithoutItsFile) {
  auto cache = open();
  UnwindTableCache::Key key;
  const auto built = cache.table_of(*testing::parse_elf(parts_with_frame(48)), nullptr, &key);
  ASSERT_TRUE(built.ok());
  const auto found = cache.find(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cells, built->cells);
  EXPECT_EQ(cache.counts().hits, 1U);
  // The file of that name is of another program by now.
  UnwindTableCache::Key other = key;
  ++other.fingerprint.low;
  EXPECT_FALSE(cache.find(other));
  for (const fs::path& file : files()) fs::remove(file);
  EXPECT_FALSE(cache.find(key));
}

TEST_F(TableCacheTest, RemembersThatAFileHasNoTable) {
  const auto file = testing::parse_elf({});
  auto cache = open();
  ASSERT_TRUE(cache.table_of(*file).ok());
  const auto cached = cache.table_of(*file);
  ASSERT_TRUE(cached.ok());
  EXPECT_EQ(cache.counts().hits, 1U);
  EXPECT_EQ(cached->header.state, VESTA_MODULE_NO_TABLE);
}

TEST_F(TableCacheTest, BuildsAgainAfterAnyDamage) {
  const auto file = testing::parse_elf(parts_with_frame(48));
  ASSERT_TRUE(open().table_of(*file).ok());
  ASSERT_EQ(files().size(), 1U);
  const fs::path path = files()[0];
  const auto size = static_cast<size_t>(fs::file_size(path));
  for (size_t at = 0; at < size; at += 3) {
    {
      std::fstream damaged(path, std::ios::in | std::ios::out | std::ios::binary);
      damaged.seekg(static_cast<std::streamoff>(at));
      const int byte = damaged.get();
      damaged.seekp(static_cast<std::streamoff>(at));
      damaged.put(static_cast<char>(byte ^ 0x10));
    }
    auto cache = open();
    const auto table = cache.table_of(*file);
    ASSERT_TRUE(table.ok());
    EXPECT_EQ(rule_at(*table, kCodeAddress).cfa_offset, 48);
    EXPECT_EQ(cache.counts().rejected, 1U) << at;
  }
  for (const size_t kept : {size_t{0}, size_t{50}, size - 8, size - 1}) {
    fs::resize_file(path, kept);
    auto cache = open();
    ASSERT_TRUE(cache.table_of(*file).ok());
    EXPECT_EQ(cache.counts().rejected, 1U) << kept;
  }
}

TEST_F(TableCacheTest, DoesNotMistakeAFileForAnotherWithTheSameBuildId) {
  const auto one = testing::parse_elf(parts_with_frame(48));
  const auto other = testing::parse_elf(parts_with_frame(56));
  EXPECT_NE(table_fingerprint(*one, nullptr), table_fingerprint(*other, nullptr));
  const auto table = build_unwind_table(*one);
  ASSERT_TRUE(table.ok());
  const std::string bytes = encode_table(*table, table_fingerprint(*one, nullptr));
  EXPECT_TRUE(decode_table(bytes, table_fingerprint(*one, nullptr)).ok());
  EXPECT_FALSE(decode_table(bytes, table_fingerprint(*other, nullptr)).ok());
}

TEST_F(TableCacheTest, ADebugFileMakesAnotherTable) {
  const auto file = testing::parse_elf({});
  const auto debug = testing::parse_elf(parts_with_frame(48));
  EXPECT_NE(table_fingerprint(*file, nullptr), table_fingerprint(*file, debug.get()));
}

TEST_F(TableCacheTest, EvictsWhatWasUsedLeastRecently) {
  const uint64_t size = [&] {
    EXPECT_TRUE(open().table_of(*testing::parse_elf(parts_with_frame(8))).ok());
    return fs::file_size(files()[0]);
  }();
  fs::remove_all(folder_);
  auto cache = open(size * 4);
  for (uint8_t i = 1; i <= 4; ++i) {
    const auto before = files();
    const auto file = testing::parse_elf(parts_with_frame(static_cast<uint8_t>(8 * i)));
    ASSERT_TRUE(cache.table_of(*file).ok());
    // Clocks of file systems are too coarse to tell these apart.
    for (const fs::path& path : files()) {
      if (std::find(before.begin(), before.end(), path) != before.end()) continue;
      fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(10 - i));
    }
  }
  EXPECT_EQ(files().size(), 4U);
  EXPECT_EQ(cache.counts().evicted, 0U);
  // The first is used again, so the second goes.
  ASSERT_TRUE(cache.table_of(*testing::parse_elf(parts_with_frame(8))).ok());
  ASSERT_TRUE(cache.table_of(*testing::parse_elf(parts_with_frame(80))).ok());
  EXPECT_EQ(cache.counts().evicted, 1U);
  EXPECT_EQ(cache.counts().hits, 1U);
  ASSERT_TRUE(cache.table_of(*testing::parse_elf(parts_with_frame(8))).ok());
  EXPECT_EQ(cache.counts().hits, 2U);
  ASSERT_TRUE(cache.table_of(*testing::parse_elf(parts_with_frame(16))).ok());
  EXPECT_EQ(cache.counts().hits, 2U);
}

TEST_F(TableCacheTest, RefusesFoldersAndFilesThatOthersCanWriteTo) {
  const auto file = testing::parse_elf(parts_with_frame(48));
  ASSERT_TRUE(open().table_of(*file).ok());
  ASSERT_EQ(::chmod(files()[0].c_str(), 0666), 0);
  auto cache = open();
  ASSERT_TRUE(cache.table_of(*file).ok());
  EXPECT_EQ(cache.counts().rejected, 1U);
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  EXPECT_EQ(UnwindTableCache::open(folder_).error().code, ErrorCode::kPermission);
  ASSERT_EQ(::chmod(folder_.c_str(), 0700), 0);
  fs::create_directory_symlink(folder_, root_.path("link"));
  EXPECT_FALSE(UnwindTableCache::open(root_.path("link")).ok());
  VESTA_REQUIRE_OR_SKIP(::geteuid() == 0, "only root can give a folder away");
  ASSERT_EQ(::chown(folder_.c_str(), 12345, 12345), 0);
  EXPECT_EQ(UnwindTableCache::open(folder_).error().code, ErrorCode::kPermission);
}

TEST_F(TableCacheTest, StillBuildsWhenTheFolderIsGone) {
  auto cache = open();
  fs::remove_all(folder_);
  EXPECT_TRUE(cache.table_of(*testing::parse_elf(parts_with_frame(48))).ok());
  EXPECT_EQ(cache.counts().not_stored, 1U);
}

}  // namespace
}  // namespace vesta
