#include "agent/export/in_process/in_process_exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/export/codecs/test_window.h"
#include "ingest/test_engine.h"

namespace vesta::agent {
namespace {

using test::kWindowTime;
using test::window_of;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr int64_t kWindow = 10'000'000'000;

class InProcessExporterTest : public ::testing::Test {
 protected:
  InProcessExporterTest() {
    // The windows of these tests lie in the future.
    IngestOptions options;
    options.limits.max_ahead_ns = INT64_MAX;
    options.limits.max_age_ns = 0;
    ingest_ = std::make_unique<Ingest>(engine_, std::move(options));
    exporter_ = std::make_unique<InProcessExporter>(*ingest_, 2);
  }
  static void check_sums(const ExporterStats& stats) {
    EXPECT_EQ(stats.taken, stats.sent + stats.queued + stats.rejected + stats.expired);
  }
  Status take(int window) { return exporter_->take(window_of(1, kWindowTime + window * kWindow)); }
  std::vector<int64_t> written_windows() const {
    std::vector<int64_t> out;
    for (const auto& each : engine_.written)
      out.push_back((each.batch.profiles.at(0).time_ns - kWindowTime) / kWindow);
    return out;
  }

  vesta::test::RecordingEngine engine_;
  std::unique_ptr<Ingest> ingest_;
  std::unique_ptr<InProcessExporter> exporter_;
};

TEST_F(InProcessExporterTest, WhatItTakesIsInTheStore) {
  ASSERT_TRUE(exporter_->take(window_of(3)).ok());
  ASSERT_EQ(engine_.written.size(), 1U);
  EXPECT_EQ(engine_.written[0].tenant, "anonymous");
  EXPECT_TRUE(engine_.written[0].options.durable);
  const ExporterStats stats = exporter_->stats();
  EXPECT_EQ(stats.sent, 3U);
  EXPECT_EQ(stats.queued, 0U);
  check_sums(stats);
}

TEST_F(InProcessExporterTest, WhatTheStoreCannotTakeYetWaitsInOrder) {
  engine_.problem = {ErrorCode::kUnavailable, "the disk is full", {}};
  ASSERT_TRUE(take(0).ok());
  ASSERT_TRUE(take(1).ok());
  EXPECT_EQ(exporter_->stats().queued, 2U);
  EXPECT_EQ(exporter_->stats().last_error, "the disk is full");
  engine_.problem = {};
  ASSERT_TRUE(take(2).ok());
  EXPECT_EQ(written_windows(), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(exporter_->stats().last_error, "");
  check_sums(exporter_->stats());
}

TEST_F(InProcessExporterTest, FlushTriesOnceMore) {
  engine_.problem = {ErrorCode::kIo, "write failed", {}};
  ASSERT_TRUE(take(0).ok());
  exporter_->flush({});
  EXPECT_EQ(exporter_->stats().queued, 1U);
  engine_.problem = {};
  exporter_->flush({});
  EXPECT_EQ(exporter_->stats().sent, 1U);
}

TEST_F(InProcessExporterTest, TheOldestGoesWhenTooManyWaitAndIsCounted) {
  engine_.problem = {ErrorCode::kUnavailable, "the disk is full", {}};
  ASSERT_TRUE(take(0).ok());
  ASSERT_TRUE(take(1).ok());
  const Status third = take(2);
  ASSERT_FALSE(third.ok());
  EXPECT_THAT(third.error().message, HasSubstr("the disk is full"));
  const ExporterStats stats = exporter_->stats();
  EXPECT_EQ(stats.expired, 1U);
  EXPECT_EQ(stats.queued, 2U);
  EXPECT_THAT(stats.lost_by_reason,
              UnorderedElementsAre(Pair("the store accepted no writes for too long", 1)));
  check_sums(stats);
  engine_.problem = {};
  exporter_->flush({});
  EXPECT_EQ(written_windows(), (std::vector<int64_t>{1, 2}));
}

TEST_F(InProcessExporterTest, WhatTheStoreRefusesIsNotTriedAgain) {
  engine_.problem = {ErrorCode::kLimit, "too many series", {}};
  ASSERT_TRUE(take(0).ok());
  engine_.problem = {};
  ASSERT_TRUE(take(1).ok());
  EXPECT_EQ(written_windows(), (std::vector<int64_t>{1}));
  const ExporterStats stats = exporter_->stats();
  EXPECT_EQ(stats.rejected, 1U);
  EXPECT_THAT(stats.lost_by_reason, UnorderedElementsAre(Pair("too many series", 1)));
  check_sums(stats);
}

}  // namespace
}  // namespace vesta::agent
