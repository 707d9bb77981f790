#include "agent/stream/sample_queue.h"

#include <gtest/gtest.h>

#include <thread>

namespace vesta::agent {
namespace {

constexpr std::chrono::seconds kLong{60};

ResolvedSamples batch_of(size_t samples) {
  ResolvedSamples batch;
  batch.samples.resize(samples);
  batch.processes.push_back(std::make_shared<SampledProcess>());
  return batch;
}

TEST(SampleQueue, KeepsOrder) {
  SampleQueue queue(1 << 20);
  for (size_t count = 1; count <= 3; ++count) queue.push(batch_of(count));
  for (size_t count = 1; count <= 3; ++count) EXPECT_EQ(queue.pop(kLong)->samples.size(), count);
}

TEST(SampleQueue, WhatDoesNotFitIsCountedAndItsProcessesStay) {
  SampleQueue queue(10 * sizeof(ResolvedSample));
  queue.push(batch_of(8));
  queue.push(batch_of(5));
  EXPECT_EQ(queue.dropped(), 5U);
  EXPECT_EQ(queue.pop(kLong)->samples.size(), 8U);
  const auto emptied = queue.pop(kLong);
  EXPECT_TRUE(emptied->samples.empty());
  EXPECT_EQ(emptied->processes.size(), 1U);
  // There is room again.
  queue.push(batch_of(5));
  EXPECT_EQ(queue.dropped(), 5U);
}

TEST(SampleQueue, WhatDoesNotFitIsToldAsLostAtItsTime) {
  SampleQueue queue(sizeof(ResolvedSample));
  ResolvedSamples batch = batch_of(3);
  batch.samples[0].time_ns = 77;
  queue.push(std::move(batch));
  const auto emptied = queue.pop(kLong);
  ASSERT_EQ(emptied->lost.size(), 1U);
  EXPECT_EQ(emptied->lost[0].count, 3U);
  EXPECT_EQ(emptied->lost[0].time_ns, 77U);
}

TEST(SampleQueue, TellsTheAgeOfWhatIsNotNamed) {
  SampleQueue queue(1 << 20);
  EXPECT_EQ(queue.oldest_ns(), 0U);
  for (const uint64_t time_ns : {5U, 9U}) {
    ResolvedSamples batch = batch_of(2);
    batch.samples[0].time_ns = time_ns;
    queue.push(std::move(batch));
  }
  EXPECT_EQ(queue.oldest_ns(), 5U);
  (void)queue.pop(kLong);
  EXPECT_EQ(queue.oldest_ns(), 5U);  // being named
  queue.done();
  EXPECT_EQ(queue.oldest_ns(), 9U);
  (void)queue.pop(kLong);
  queue.done();
  EXPECT_EQ(queue.oldest_ns(), 0U);
}

TEST(SampleQueue, EndsAfterTheLastBatch) {
  SampleQueue queue(1 << 20);
  queue.push(batch_of(1));
  queue.close();
  EXPECT_FALSE(queue.is_done());
  EXPECT_TRUE(queue.pop(kLong).has_value());
  EXPECT_TRUE(queue.is_done());
  EXPECT_FALSE(queue.pop(kLong).has_value());
}

TEST(SampleQueue, DoesNotWaitForEver) {
  SampleQueue queue(1 << 20);
  EXPECT_FALSE(queue.pop(std::chrono::milliseconds(1)).has_value());
  EXPECT_FALSE(queue.is_done());
}

TEST(SampleQueue, WakesWhoWaits) {
  SampleQueue queue(1 << 20);
  size_t seen = 0;
  {
    const std::jthread reader([&] {
      while (!queue.is_done())
        if (const auto batch = queue.pop(kLong)) seen += batch->samples.size();
    });
    for (int i = 0; i < 100; ++i) queue.push(batch_of(3));
    queue.close();
  }
  EXPECT_EQ(seen, 300U);
}

}  // namespace
}  // namespace vesta::agent
