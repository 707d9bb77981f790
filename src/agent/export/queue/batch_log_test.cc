#include "agent/export/queue/batch_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/export/queue/batch_queue.h"
#include "agent/export/queue/test_clock.h"
#include "profile/test_profiles.h"
#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

using vesta::test::meaning;
using vesta::test::random_batch;

ProfileBatch last_batch(const BatchLogReader& reader) {
  return {reader.dictionary(), reader.profiles()};
}

TEST(BatchLog, GivesBackEveryBatch) {
  BatchLogWriter writer;
  BatchLogReader reader;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const ProfileBatch batch = random_batch(seed);
    const auto status = reader.append(writer.append(batch));
    ASSERT_TRUE(status.ok()) << status.error().message;
    const ProfileBatch back = last_batch(reader);
    EXPECT_EQ(find_inconsistency(back), "");
    EXPECT_EQ(meaning(back), meaning(batch)) << seed;
    ASSERT_EQ(back.profiles.size(), batch.profiles.size());
    for (size_t i = 0; i < batch.profiles.size(); ++i) {
      const Profile& a = batch.profiles[i];
      const Profile& b = back.profiles[i];
      EXPECT_EQ(vesta::test::rows(back, i), vesta::test::rows(batch, i));
      EXPECT_EQ(b.time_ns, a.time_ns);
      EXPECT_EQ(b.duration_ns, a.duration_ns);
      EXPECT_EQ(b.period, a.period);
      EXPECT_EQ(b.samples.times_ns, a.samples.times_ns);
      EXPECT_EQ(b.losses.size(), a.losses.size());
    }
  }
}

TEST(BatchLog, WhatWasSaidBeforeCostsLittle) {
  BatchLogWriter writer;
  vesta::test::RandomOptions options;
  options.samples = 500;
  options.functions = 300;
  const ProfileBatch batch = random_batch(1, options);
  const size_t first = writer.append(batch).size();
  const size_t second = writer.append(batch).size();
  EXPECT_LT(second, first / 2);
}

TEST(BatchLog, ARecordOutOfTurnIsRefused) {
  BatchLogWriter writer;
  const std::string first = writer.append(random_batch(1));
  const std::string second = writer.append(random_batch(2));
  BatchLogReader reader;
  EXPECT_FALSE(reader.append(second).ok());
  EXPECT_FALSE(BatchLogReader().append("").ok());
  EXPECT_FALSE(BatchLogReader().append("garbage").ok());
  BatchLogReader good;
  EXPECT_TRUE(good.append(first).ok());
  EXPECT_TRUE(good.append(second).ok());
  EXPECT_FALSE(good.append(second).ok());
}

TEST(BatchLog, AnEmptyBatchIsARecordToo) {
  BatchLogWriter writer;
  BatchLogReader reader;
  EXPECT_TRUE(reader.append(writer.append(ProfileBatch())).ok());
  EXPECT_TRUE(reader.profiles().empty());
}

class BatchQueueTest : public ::testing::Test {
 protected:
  BatchQueueTest() {
    options_.folder = folder_.path("queue");
    options_.segment_bytes = 20'000;
  }
  std::unique_ptr<BatchQueue> open() {
    auto queue = BatchQueue::open(options_, clock_);
    EXPECT_TRUE(queue.ok());
    return std::move(*queue);
  }
  static ProfileBatch copy(const QueuedBatch& batch) {
    return {*batch.dictionary, {batch.profiles.begin(), batch.profiles.end()}};
  }

  TemporaryFolder folder_;
  test::TestClock clock_;
  DiskQueueOptions options_;
};

TEST_F(BatchQueueTest, BatchesComeOutAsTheyWentInAcrossFilesAndRestarts) {
  std::vector<std::map<std::string, int64_t>> expected;
  auto queue = open();
  size_t next = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const ProfileBatch batch = random_batch(seed);
    expected.push_back(meaning(batch));
    ASSERT_TRUE(queue->push(batch).ok());
    if (seed % 7 == 6) {
      queue.reset();
      queue = open();
    }
    if (seed % 3 == 2) {
      const auto front = queue->front();
      ASSERT_TRUE(front.has_value());
      EXPECT_EQ(meaning(copy(*front)), expected[next++]);
      queue->advance(front->place, static_cast<uint32_t>(front->profiles.size()));
    }
  }
  while (const auto front = queue->front()) {
    ASSERT_LT(next, expected.size());
    EXPECT_EQ(meaning(copy(*front)), expected[next++]);
    queue->advance(front->place, static_cast<uint32_t>(front->profiles.size()));
  }
  EXPECT_EQ(next, expected.size());
  EXPECT_EQ(queue->stats().damaged, 0U);
  EXPECT_EQ(queue->stats().bytes, 0U);
}

TEST_F(BatchQueueTest, RecordsThatExpireAreStillBuiltOn) {
  options_.max_age_ns = 100 * kSecond;
  auto queue = open();
  const auto push = [&](uint64_t seed) { ASSERT_TRUE(queue->push(random_batch(seed)).ok()); };
  for (uint64_t seed = 0; seed < 5; ++seed) {
    push(seed);
    clock_.advance(30 * kSecond);
  }
  const auto front = queue->front();
  ASSERT_TRUE(front.has_value());
  EXPECT_EQ(meaning(copy(*front)), meaning(random_batch(2)));
  clock_.advance(30 * kSecond);
  const auto later = queue->front();
  ASSERT_TRUE(later.has_value());
  EXPECT_EQ(meaning(copy(*later)), meaning(random_batch(3)));
  EXPECT_EQ(queue->stats().damaged, 0U);
}

TEST_F(BatchQueueTest, ADamagedRecordTakesThoseWithItThatBuildOnItAndAllAreCounted) {
  options_.segment_bytes = 1 << 20;
  {
    auto queue = open();
    for (uint64_t seed = 0; seed < 5; ++seed) ASSERT_TRUE(queue->push(random_batch(seed)).ok());
  }
  // One byte, somewhere in the payload of the first record.
  const std::string path = options_.folder + "/0000000000000001.seg";
  std::FILE* file = std::fopen(path.c_str(), "r+");
  ASSERT_NE(file, nullptr);
  std::fseek(file, 8 + 40 + 20, SEEK_SET);
  const int byte = std::fgetc(file);
  std::fseek(file, 8 + 40 + 20, SEEK_SET);
  std::fputc(byte ^ 0xFF, file);
  std::fclose(file);
  auto queue = open();
  const uint64_t before = queue->stats().profiles;
  ASSERT_TRUE(queue->push(random_batch(9)).ok());
  const auto front = queue->front();
  ASSERT_TRUE(front.has_value());
  EXPECT_EQ(meaning(copy(*front)), meaning(random_batch(9)));
  EXPECT_EQ(queue->stats().damaged, before);
}

}  // namespace
}  // namespace vesta::agent
