#include "agent/unwinding/table_loader.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "agent/unwinding/module_slots.h"
#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

using std::chrono::seconds;

class TableLoaderTest : public ::testing::Test {
 protected:
  // Stock binaries have call frame information, whatever they were compiled with.
  std::shared_ptr<const Module> module_of(const std::string& path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0) return nullptr;
    MappedFile file;
    file.pid = static_cast<uint32_t>(::getpid());
    file.path = path;
    file.device = about.st_dev;
    file.inode = about.st_ino;
    return registry_.module(registry_.acquire(file));
  }
  static bool is_ready(const TableLoader& loader) {
    pollfd waiting{loader.ready_fd(), POLLIN, 0};
    return ::poll(&waiting, 1, 0) == 1;
  }

  ModuleRegistry registry_;
};

TEST_F(TableLoaderTest, BuildsWhatIsAskedForAndTells) {
  TableLoader loader(nullptr, nullptr, {});
  const auto module = module_of("/bin/sh");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(loader.get(module, ModuleSlots::kNoSlot), nullptr);
  ASSERT_TRUE(loader.wait_until_idle(seconds(60)));
  EXPECT_TRUE(is_ready(loader));
  loader.clear_ready();
  EXPECT_FALSE(is_ready(loader));
  const auto table = loader.get(module, ModuleSlots::kNoSlot);
  ASSERT_NE(table, nullptr);
  EXPECT_TRUE(table->is_loaded());
  EXPECT_EQ(loader.statistics().built, 1U);
  EXPECT_EQ(loader.statistics().copy_bytes, table->bytes());
}

TEST_F(TableLoaderTest, AskingAgainBuildsOnce) {
  TableLoader loader(nullptr, nullptr, {});
  const auto module = module_of("/bin/sh");
  ASSERT_NE(module, nullptr);
  for (int i = 0; i < 100; ++i) (void)loader.get(module, ModuleSlots::kNoSlot);
  ASSERT_TRUE(loader.wait_until_idle(seconds(60)));
  (void)loader.get(module, ModuleSlots::kNoSlot);
  EXPECT_EQ(loader.statistics().built, 1U);
}

TEST_F(TableLoaderTest, AFileThatIsNoProgramHasNoTable) {
  TableLoader loader(nullptr, nullptr, {});
  const auto module = module_of("/etc/passwd");
  ASSERT_NE(module, nullptr);
  (void)loader.get(module, ModuleSlots::kNoSlot);
  ASSERT_TRUE(loader.wait_until_idle(seconds(60)));
  const auto table = loader.get(module, ModuleSlots::kNoSlot);
  ASSERT_NE(table, nullptr);
  EXPECT_FALSE(table->is_loaded());
  EXPECT_EQ(table->header.state, VESTA_MODULE_NO_TABLE);
  EXPECT_EQ(loader.statistics().unreadable, 1U);
}

TEST_F(TableLoaderTest, CopiesBeyondTheLimitGoLeastRecentlyUsedFirst) {
  TableLoaderOptions options;
  options.max_copy_bytes = 1;
  TableLoader loader(nullptr, nullptr, options);
  const auto first = module_of("/bin/sh");
  const auto second = module_of("/bin/cat");
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  (void)loader.get(first, ModuleSlots::kNoSlot);
  ASSERT_TRUE(loader.wait_until_idle(seconds(60)));
  EXPECT_EQ(loader.statistics().copy_bytes, 0U);  // not even one fits
  // Asked for again, it is built again.
  EXPECT_EQ(loader.get(first, ModuleSlots::kNoSlot), nullptr);
  (void)loader.get(second, ModuleSlots::kNoSlot);
  ASSERT_TRUE(loader.wait_until_idle(seconds(60)));
  EXPECT_EQ(loader.statistics().built, 3U);
}

TEST_F(TableLoaderTest, ATableThatIsOnDiskIsFoundAgainWithoutTheProgram) {
  const TemporaryFolder folder;
  auto cache = UnwindTableCache::open(folder.path("unwind"));
  ASSERT_TRUE(cache.ok());
  std::filesystem::copy_file("/bin/sh", folder.path("program"));
  TableLoaderOptions options;
  options.max_copy_bytes = 1;
  {
    TableLoader loader(nullptr, &*cache, options);
    const auto module = module_of(folder.path("program"));
    ASSERT_NE(module, nullptr);
    (void)loader.get(module, ModuleSlots::kNoSlot);
    ASSERT_TRUE(loader.wait_until_idle(seconds(60)));
    EXPECT_EQ(loader.statistics().built, 1U);
    std::filesystem::remove(folder.path("program"));
    EXPECT_EQ(loader.get(module, ModuleSlots::kNoSlot), nullptr);
    ASSERT_TRUE(loader.wait_until_idle(seconds(60)));
    EXPECT_EQ(loader.statistics().from_disk, 1U);
    EXPECT_EQ(loader.statistics().unreadable, 0U);
  }
}

TEST_F(TableLoaderTest, WhatWasPreparedOnceIsNotLoadedForEveryProcessThatStarts) {
  TableLoaderOptions options;
  options.max_copy_bytes = 1;
  TableLoader loader(nullptr, nullptr, options);
  const auto module = module_of("/bin/sh");
  ASSERT_NE(module, nullptr);
  for (int i = 0; i < 10; ++i) {
    loader.prepare(module, ModuleSlots::kNoSlot);
    ASSERT_TRUE(loader.wait_until_idle(seconds(60)));
  }
  EXPECT_EQ(loader.statistics().built, 1U);
  // When it is needed it comes.
  EXPECT_EQ(loader.get(module, ModuleSlots::kNoSlot), nullptr);
  ASSERT_TRUE(loader.wait_until_idle(seconds(60)));
  EXPECT_EQ(loader.statistics().built, 2U);
}

TEST_F(TableLoaderTest, ASlotOfAModuleNeverSeenIsForgottenInPeace) {
  TableLoader loader(nullptr, nullptr, {});
  loader.forget_slot(ModuleId(17), 3);
  loader.touch(ModuleId(17));
  EXPECT_TRUE(loader.wait_until_idle(seconds(60)));
  EXPECT_EQ(loader.statistics().kernel_bytes, 0U);
}

}  // namespace
}  // namespace vesta::agent
