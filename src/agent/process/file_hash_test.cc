#include "agent/process/file_hash.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "agent/process/target_file.h"
#include "agent/process/test_proc.h"
#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

std::string hash_of(const std::string& bytes, uint64_t said_size) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/file";
  write_text(path, bytes);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file_hash(fd.get(), said_size);
}

std::string content(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * i % 251);
  return bytes;
}

// The expected values were computed with Python's hashlib.
TEST(FileHash, FollowsTheConvention) {
  EXPECT_EQ(hash_of(content(0), 0), "af5570f5a1810b7af78caf4bc70a660f");
  EXPECT_EQ(hash_of(content(1), 1), "52807a4607ea5debf0b7d4ccb452f4af");
  EXPECT_EQ(hash_of(content(4096), 4096), "aeb86b77d637c1cb6be1ba6819249c73");
  EXPECT_EQ(hash_of(content(5000), 5000), "c81b94028c4907107a510b7062fac578");
  EXPECT_EQ(hash_of(content(100000), 100000), "7e91c0043bd8393f8360641b42359340");
}

TEST(FileHash, IsNothingForAFileThatIsShorterThanItWas) {
  EXPECT_EQ(hash_of(content(100), 200), "");
  EXPECT_EQ(file_hash(-1, 10), "");
}

}  // namespace
}  // namespace vesta::agent
