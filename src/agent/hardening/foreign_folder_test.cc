#include "agent/hardening/foreign_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "base/test_requirements.h"
#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

class ForeignFolderTest : public ::testing::Test {
 protected:
  std::optional<std::string> found() const {
    return foreign_folder(std::array{std::string(), folder_ + "/missing", folder_});
  }

  TemporaryFolder temporary_;
  std::string folder_ = temporary_.path();
};

TEST_F(ForeignFolderTest, OnesOwnAndMissingFoldersAreNotOfAnother) {
  std::ofstream(folder_ + "/file") << "x";
  EXPECT_EQ(found(), std::nullopt);
}

TEST_F(ForeignFolderTest, AFolderOfAnotherUserIsNamed) {
  if (::geteuid() != 0) VESTA_REQUIRE_OR_SKIP(false, "giving files away needs root");
  ASSERT_EQ(::chown(folder_.c_str(), 65534, 65534), 0);
  EXPECT_EQ(found(), folder_);
}

TEST_F(ForeignFolderTest, SoIsWhatLiesInIt) {
  if (::geteuid() != 0) VESTA_REQUIRE_OR_SKIP(false, "giving files away needs root");
  const std::string file = folder_ + "/file";
  std::ofstream(file) << "x";
  ASSERT_EQ(::chown(file.c_str(), 65534, 65534), 0);
  EXPECT_EQ(found(), file);
}

}  // namespace
}  // namespace vesta::agent
