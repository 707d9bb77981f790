#include "server/kept/kept_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "testing/temporary_folder.h"

namespace vesta::server {
namespace {

using ::testing::ElementsAre;

class KeptFilesTest : public ::testing::Test {
 protected:
  std::unique_ptr<KeptFiles> open(KeptLimits limits = {3, 100, 150}) {
    auto files =
        KeptFiles::open(folder_.path("kept"), limits, [this] { return UnixNs(++now_ns_); });
    EXPECT_TRUE(files) << files.error().message;
    return std::move(*files);
  }
  static std::vector<std::string> ids(const KeptFiles& files, std::string_view tenant = "a") {
    std::vector<std::string> ids;
    for (const KeptFile& file : files.list(tenant)) ids.push_back(file.id);
    return ids;
  }

  TemporaryFolder folder_;
  int64_t now_ns_ = 0;
};

TEST_F(KeptFilesTest, WhatWasPutIsThereAfterARestart) {
  {
    const auto files = open();
    ASSERT_TRUE(files->put("a", "one", "a note", "content"));
    ASSERT_TRUE(files->put("a/../b", "one", "", "of another"));
    ASSERT_TRUE(files->put("a", "two", "", ""));
    ASSERT_TRUE(files->put("a", "one", "new note", "new content"));
  }
  const auto files = open();
  EXPECT_THAT(ids(*files), ElementsAre("two", "one"));
  const auto one = files->find("a", "one");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->note, "new note");
  EXPECT_EQ(one->bytes, 11U);
  EXPECT_EQ(one->stored_ns, 4);
  EXPECT_EQ(*files->read("a", "one"), "new content");
  EXPECT_EQ(*files->read("a/../b", "one"), "of another");
  EXPECT_TRUE(std::filesystem::exists(folder_.path("kept/a%2f%2e%2e%2fb/one")));
  EXPECT_EQ(files->read("b", "one").error().code, ErrorCode::kNotFound);
}

TEST_F(KeptFilesTest, TheOldestOfATenantMakeRoom) {
  const auto files = open();
  const std::string forty(40, 'x');
  for (const char* id : {"1", "2", "3"}) ASSERT_TRUE(files->put("a", id, "", forty));
  EXPECT_THAT(ids(*files), ElementsAre("2", "3")) << "100 bytes for a tenant";
  ASSERT_TRUE(files->put("a", "2", "", "small"));
  for (const char* id : {"4", "5"}) ASSERT_TRUE(files->put("a", id, "", "small"));
  EXPECT_THAT(ids(*files), ElementsAre("2", "4", "5")) << "three files for a tenant";
  EXPECT_FALSE(std::filesystem::exists(folder_.path("kept/a/3")));
}

TEST_F(KeptFilesTest, NobodyLosesFilesToOthers) {
  const auto files = open();
  const std::string eighty(80, 'x');
  ASSERT_TRUE(files->put("a", "1", "", eighty));
  ASSERT_TRUE(files->put("b", "1", "", std::string(60, 'x')));
  EXPECT_EQ(files->put("b", "2", "", eighty).error().code, ErrorCode::kTooMany);
  EXPECT_THAT(ids(*files, "b"), ElementsAre("1"));
  ASSERT_TRUE(files->put("b", "2", "", std::string(65, 'x'))) << "once its own has gone";
  EXPECT_THAT(ids(*files, "a"), ElementsAre("1"));
  EXPECT_THAT(ids(*files, "b"), ElementsAre("2"));
  ASSERT_TRUE(files->remove("a", "1").ok());
  EXPECT_TRUE(files->put("b", "3", "", eighty));
}

TEST_F(KeptFilesTest, RefusesWhatCannotBeAnIdOrIsTooLarge) {
  const auto files = open();
  for (const char* id : {"", "..", "a/b", "a.b", "a b"})
    EXPECT_EQ(files->put("a", id, "", "x").error().code, ErrorCode::kUsage) << id;
  EXPECT_EQ(files->put("a", std::string(129, 'a'), "", "x").error().code, ErrorCode::kUsage);
  EXPECT_EQ(files->put("a", "1", "", std::string(101, 'x')).error().code, ErrorCode::kLimit);
  EXPECT_EQ(files->put("a", "1", std::string(5000, 'x'), "").error().code, ErrorCode::kLimit);
  EXPECT_TRUE(files->list("a").empty());
}

TEST_F(KeptFilesTest, LeavesDamagedFilesAloneAndDropsHalfWritten) {
  {
    const auto files = open();
    ASSERT_TRUE(files->put("a", "good", "", "x"));
  }
  std::ofstream(folder_.path("kept/a/bad")) << "VKF1 and nothing that makes sense";
  std::ofstream(folder_.path("kept/a/good.AbCdEf")) << "VKF1";
  const auto files = open();
  EXPECT_THAT(ids(*files), ElementsAre("good"));
  EXPECT_TRUE(std::filesystem::exists(folder_.path("kept/a/bad")));
  EXPECT_FALSE(std::filesystem::exists(folder_.path("kept/a/good.AbCdEf")));
}

}  // namespace
}  // namespace vesta::server
