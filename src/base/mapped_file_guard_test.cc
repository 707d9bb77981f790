#include "base/mapped_file_guard.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/file.h"

namespace vesta {
namespace {

class TemporaryFile {
 public:
  explicit TemporaryFile(size_t bytes) : fd_(::mkstemp(path_.data())) {
    const std::string text(bytes, 'x');
    EXPECT_EQ(::write(fd_.get(), text.data(), text.size()), static_cast<ssize_t>(bytes));
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  int fd() const { return fd_.get(); }

 private:
  std::string path_ = "/tmp/vesta-guard-XXXXXX";
  UniqueFd fd_;
};

TEST(MappedFileGuard, AFileThatShrinksWhileMappedReadsAsZeros) {
  const TemporaryFile file(5 * 4096);
  Result<InputFile> input = InputFile::from_fd(file.fd(), 1 << 20);
  ASSERT_TRUE(input.ok());
  ASSERT_EQ(input->bytes().size(), 5U * 4096);
  ASSERT_EQ(::ftruncate(file.fd(), 4096 + 10), 0);
  EXPECT_EQ(input->bytes()[4096], 'x');
  EXPECT_EQ(input->bytes()[2 * 4096], '\0');
  EXPECT_EQ(input->bytes()[5 * 4096 - 1], '\0');
}

TEST(MappedFileGuard, SlotsAreUsedAgain) {
  const TemporaryFile file(4096);
  for (int i = 0; i < 10'000; ++i) {
    Result<InputFile> input = InputFile::from_fd(file.fd(), 1 << 20);
    ASSERT_TRUE(input.ok()) << i;
  }
}

TEST(MappedFileGuard, APipeIsRefused) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd reader(ends[0]);
  const UniqueFd writer(ends[1]);
  EXPECT_FALSE(InputFile::from_fd(reader.get(), 1 << 20).ok());
}

TEST(MappedFileGuardDeathTest, ABusErrorElsewhereStillEndsTheProcess) {
  EXPECT_DEATH(
      {
        const TemporaryFile file(4096);
        (void)guard_mapped_file(&file, 1);
        void* page = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, file.fd(), 0);
        (void)::ftruncate(file.fd(), 0);
        // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): the read is the test.
        const char byte = *static_cast<volatile const char*>(page);
        std::_Exit(byte);
      },
      "");
}

}  // namespace
}  // namespace vesta
