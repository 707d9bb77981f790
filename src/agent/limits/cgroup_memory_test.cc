#include "agent/limits/cgroup_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kMiB = uint64_t{1} << 20;

class CgroupMemoryTest : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_.path(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::optional<CgroupMemory> find() const {
    return CgroupMemory::find({folder_.path("proc"), folder_.path("cgroup")});
  }
  TemporaryFolder folder_;
};

TEST_F(CgroupMemoryTest, TheTightestLimitOfAllAroundCounts) {
  write("proc/cgroup", "0::/system.slice/vesta.service\n");
  write("cgroup/memory.max", "max\n");
  EXPECT_FALSE(find());
  write("cgroup/system.slice/vesta.service/memory.max", "max\n");
  write("cgroup/system.slice/memory.max", "209715200\n");
  ASSERT_TRUE(find());
  EXPECT_EQ(find()->limit_bytes(), 200 * kMiB);
  write("cgroup/system.slice/vesta.service/memory.max", "134217728\n");
  EXPECT_EQ(find()->limit_bytes(), 128 * kMiB);
  write("cgroup/system.slice/vesta.service/memory.high", "104857600\n");
  EXPECT_EQ(find()->limit_bytes(), 100 * kMiB);
}

TEST_F(CgroupMemoryTest, VersionOneHasAFolderForMemory) {
  write("proc/cgroup", "9:name=systemd:/x\n4:cpu,memory:/docker/abc\n0::/\n");
  write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(find());
  write("cgroup/memory/docker/abc/memory.limit_in_bytes", "67108864\n");
  ASSERT_TRUE(find());
  EXPECT_EQ(find()->limit_bytes(), 64 * kMiB);
}

// The path is one of the host, but the container sees its own cgroup as the root.
TEST_F(CgroupMemoryTest, InAContainerTheRootIsItsOwn) {
  write("proc/cgroup", "4:memory:/docker/abc\n");
  write("cgroup/memory/memory.limit_in_bytes", "67108864\n");
  ASSERT_TRUE(find());
  EXPECT_EQ(find()->limit_bytes(), 64 * kMiB);
}

TEST_F(CgroupMemoryTest, CachedFilesDoNotCountAsUsed) {
  write("proc/cgroup", "0::/a\n");
  write("cgroup/a/memory.max", "100\n");
  write("cgroup/a/memory.current", "90\n");
  write("cgroup/a/memory.stat", "anon 50\nfile 40\ninactive_file 30\nactive_file 10\n");
  EXPECT_EQ(find()->unreclaimable_bytes(), 50U);
  write("proc/cgroup", "1:memory:/a\n");
  write("cgroup/memory/a/memory.limit_in_bytes", "100\n");
  write("cgroup/memory/a/memory.usage_in_bytes", "90\n");
  write("cgroup/memory/a/memory.stat",
        "inactive_file 1\ntotal_inactive_file 30\ntotal_active_file 20\n");
  EXPECT_EQ(find()->unreclaimable_bytes(), 40U);
}

TEST_F(CgroupMemoryTest, NonsenseIsNoLimit) {
  EXPECT_FALSE(find());
  for (const char* text : {"", "0", "0:", "0::", "::::", "0::/../../etc\n", "4:memory:\n"}) {
    write("proc/cgroup", text);
    EXPECT_FALSE(find()) << text;
  }
  write("proc/cgroup", "0::/a\n");
  write("cgroup/a/memory.max", "many\n");
  EXPECT_FALSE(find());
  write("cgroup/a/memory.max", "5\n");
  EXPECT_EQ(find()->unreclaimable_bytes(), 0U);
}

TEST_F(CgroupMemoryTest, ALimitThatIsTooSmallIsRefusedWithWhatIsNeeded) {
  EXPECT_TRUE(check_cgroup_limit(128 * kMiB, 2).ok());
  const Status refused = check_cgroup_limit(50 * kMiB, 2);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
  EXPECT_THAT(refused.error().message, HasSubstr("50MB"));
  EXPECT_THAT(refused.error().hint, HasSubstr("112MB"));
  EXPECT_FALSE(check_cgroup_limit(128 * kMiB, 64).ok()) << "rings and maps are by CPU";
}

TEST(CgroupMemory, TheRestOfALimitIsForTheKernelsSide) {
  EXPECT_EQ(memory_within(1000), 700U);
}

}  // namespace
}  // namespace vesta::agent
