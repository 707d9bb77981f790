#include "agent/app/exporters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "agent/export/codecs/test_window.h"
#include "base/time.h"
#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class ConfiguredExportersTest : public ::testing::Test {
 protected:
  ExporterConfig files(const std::string& name) const {
    ExporterConfig config;
    config.name = name;
    config.kind = ExporterKind::kFiles;
    config.directory = folder_.path("files-" + name);
    return config;
  }
  // Cannot be started: there is no such certificate.
  ExporterConfig broken() const {
    ExporterConfig config;
    config.name = "broken";
    config.endpoint = "https://127.0.0.1:1";
    config.tls.ca_file = folder_.path("missing.pem");
    return config;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& [name, stats] : exporters_.stats()) out.push_back(name);
    return out;
  }
  uint64_t taken_by(const std::string& wanted) const {
    for (const auto& [name, stats] : exporters_.stats()) {
      if (name == wanted) return stats.taken;
    }
    ADD_FAILURE() << "no exporter " << wanted;
    return 0;
  }
  size_t written(const std::string& name) {
    exporters_.flush(std::chrono::steady_clock::now() + std::chrono::seconds(20));
    const std::filesystem::directory_iterator entries(folder_.path("files-" + name));
    return static_cast<size_t>(std::distance(begin(entries), end(entries)));
  }

  TemporaryFolder folder_;
  Log log_{nullptr, LogFormat::kText, LogLevel::kInfo};
  Exporters exporters_{{folder_.path("state"), "1.2", kHour, nullptr}, log_};
};

TEST_F(ConfiguredExportersTest, EveryBatchGoesToEach) {
  ASSERT_TRUE(exporters_.configure({files("a"), files("b")}, kHour).ok());
  exporters_.take(test::window_of(2));
  EXPECT_EQ(written("a"), 2U);
  EXPECT_EQ(written("b"), 2U);
}

TEST_F(ConfiguredExportersTest, ThoseThatStayAreLeftAlone) {
  ASSERT_TRUE(exporters_.configure({files("a"), files("b")}, kHour).ok());
  exporters_.take(test::window_of(2));
  ASSERT_TRUE(exporters_.configure({files("b"), files("c")}, kHour).ok());
  EXPECT_THAT(names(), UnorderedElementsAre("b", "c"));
  EXPECT_EQ(taken_by("b"), 2U);  // it is the same one
}

TEST_F(ConfiguredExportersTest, WhatAnExporterHadQueuedIsSentByTheNextOfThatName) {
  ASSERT_TRUE(exporters_.configure({files("a")}, kHour).ok());
  exporters_.take(test::window_of(2));
  ASSERT_TRUE(exporters_.configure({}, kHour).ok());
  EXPECT_TRUE(exporters_.empty());
  ASSERT_TRUE(exporters_.configure({files("a")}, kHour).ok());
  EXPECT_EQ(written("a"), 2U);
}

TEST_F(ConfiguredExportersTest, OnAnErrorNothingChanges) {
  ASSERT_TRUE(exporters_.configure({files("a"), files("b")}, kHour).ok());
  exporters_.take(test::window_of(1));
  EXPECT_FALSE(exporters_.configure({files("b"), files("c"), broken()}, kHour / 2).ok());
  EXPECT_THAT(names(), UnorderedElementsAre("a", "b"));
  exporters_.take(test::window_of(1, test::kWindowTime + kHour));
  EXPECT_EQ(written("a"), 2U);
  EXPECT_EQ(written("b"), 2U);
  // The interval, too, is what it was: they need not be started again.
  const uint64_t taken = taken_by("a");
  ASSERT_GT(taken, 0U);
  ASSERT_TRUE(exporters_.configure({files("a"), files("b")}, kHour).ok());
  EXPECT_EQ(taken_by("a"), taken);
}

TEST_F(ConfiguredExportersTest, OneThatIsNotConfiguredStays) {
  struct Given final : Exporter {
    const std::string& name() const override { return name_; }
    Status take(const ProfileBatch& batch) override {
      (void)batch;
      return Error{ErrorCode::kUnavailable, "no room", {}};
    }
    ExporterStats stats() const override { return {}; }
    void flush(std::chrono::steady_clock::time_point deadline) override { (void)deadline; }
    std::string name_ = "given";
  };
  exporters_.add(std::make_unique<Given>());
  ASSERT_TRUE(exporters_.configure({files("a")}, kHour).ok());
  ASSERT_TRUE(exporters_.configure({}, kHour).ok());
  EXPECT_THAT(names(), ElementsAre("given"));
  EXPECT_EQ(exporters_.take_all(test::window_of(1)).error().message, "no room");
}

}  // namespace
}  // namespace vesta::agent
