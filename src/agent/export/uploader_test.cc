#include "agent/export/uploader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "agent/export/queue/test_clock.h"
#include "profile/test_profiles.h"
#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

using test::TestClock;
using ::testing::ElementsAre;
using ::testing::Pair;

// Payloads are the times of their profiles, in seconds.
class TimesCodec final : public PayloadCodec {
 public:
  std::vector<Payload> encode(const Dictionary&, std::span<const Profile> profiles) const override {
    std::vector<Payload> out;
    for (const Profile& profile : profiles) {
      if (out.empty() || out.back().profiles == per_payload) out.emplace_back();
      ++out.back().profiles;
      out.back().bytes += std::to_string(profile.time_ns / kSecond) + " ";
    }
    return out;
  }
  uint32_t per_payload = 1000;
};

class ScriptedSender final : public Sender {
 public:
  SendOutcome send(const Payload& payload) override {
    const SendOutcome outcome = answer(payload);
    if (outcome.kind == SendOutcome::Kind::kSent) received.push_back(payload.bytes);
    return outcome;
  }
  void cancel() override {}
  std::function<SendOutcome(const Payload&)> answer = [](const Payload&) {
    return SendOutcome::sent();
  };
  std::vector<std::string> received;
};

// As many profiles as there are times.
ProfileBatch batch_of(const std::vector<int64_t>& seconds) {
  ProfileBatch batch = vesta::test::batch_from({{"main;work", 3}, {"main;rest", 1}});
  const Profile one = batch.profiles[0];
  batch.profiles.clear();
  for (const int64_t second : seconds) {
    batch.profiles.push_back(one);
    batch.profiles.back().time_ns = second * kSecond;
  }
  return batch;
}

class UploaderTest : public ::testing::Test {
 protected:
  UploaderTest() {
    queue_options_.folder = folder_.path("queue");
    open();
  }
  void open() {
    uploader_.reset();
    queue_.reset();
    auto queue = BatchQueue::open(queue_options_, clock_);
    ASSERT_TRUE(queue.ok()) << queue.error().message;
    queue_ = std::move(*queue);
    uploader_ = std::make_unique<Uploader>(*queue_, codec_, sender_, options_, clock_);
  }
  void push(const std::vector<int64_t>& seconds) {
    ASSERT_TRUE(queue_->push(batch_of(seconds)).ok());
  }
  int64_t step(Uploader::Urgency urgency = Uploader::Urgency::kWhenDue) {
    return uploader_->step(urgency) - clock_.boot_now();
  }

  TemporaryFolder folder_;
  TestClock clock_;
  DiskQueueOptions queue_options_;
  UploaderOptions options_;
  TimesCodec codec_;
  ScriptedSender sender_;
  std::unique_ptr<BatchQueue> queue_;
  std::unique_ptr<Uploader> uploader_;
};

TEST_F(UploaderTest, SendsAllWindowsInOrderEveryInterval) {
  push({1});
  push({2});
  EXPECT_EQ(step(), 10 * kSecond);
  push({3});
  clock_.advance(5 * kSecond);
  EXPECT_EQ(step(), 5 * kSecond);
  EXPECT_THAT(sender_.received, ElementsAre("1 ", "2 "));
  clock_.advance(5 * kSecond);
  step();
  EXPECT_THAT(sender_.received, ElementsAre("1 ", "2 ", "3 "));
  EXPECT_EQ(uploader_->stats().sent, 3U);
}

TEST_F(UploaderTest, AnHourOfOutageLosesNothingAndRepeatsNothing) {
  std::mt19937 random(5);
  const BootNs start = clock_.boot_now();
  const auto elapsed = [&] { return clock_.boot_now() - start; };
  sender_.answer = [&](const Payload&) {
    clock_.set_random(std::uniform_real_distribution<double>(0, 1)(random));
    const bool is_down = elapsed() > 60 * kSecond && elapsed() < 3660 * kSecond;
    return is_down ? SendOutcome::retry("connection refused") : SendOutcome::sent();
  };
  std::vector<std::string> expected;
  BootNs next_window = start;
  BootNs next_step = start;
  uint64_t steps = 0;
  while (elapsed() < 4000 * kSecond) {
    if (next_window <= clock_.boot_now()) {
      const int64_t window = static_cast<int64_t>(expected.size());
      push(std::vector<int64_t>(50, window));
      std::string payload;
      for (int i = 0; i < 50; ++i) payload += std::to_string(window) + " ";
      expected.push_back(payload);
      next_window += 10 * kSecond;
    }
    if (next_step <= clock_.boot_now()) {
      next_step = uploader_->step(Uploader::Urgency::kWhenDue);
      ++steps;
    }
    clock_.advance(std::max<int64_t>(std::min(next_window, next_step) - clock_.boot_now(), 1));
  }
  step(Uploader::Urgency::kNow);
  EXPECT_EQ(sender_.received, expected);
  const UploaderStats stats = uploader_->stats();
  EXPECT_EQ(stats.sent, 50 * expected.size());
  EXPECT_GT(stats.failures, 60U);
  // Backed off, rather than hammered: about one attempt in half a minute.
  EXPECT_LT(stats.failures, 250U);
  EXPECT_EQ(stats.last_error, "");
  EXPECT_EQ(queue_->stats().profiles, 0U);
}

TEST_F(UploaderTest, BacksOffWithFullJitter) {
  sender_.answer = [](const Payload&) { return SendOutcome::retry("HTTP 503"); };
  push({1});
  clock_.set_random(0.999999);
  int64_t expected = 1;
  for (int failure = 0; failure < 10; ++failure) {
    const int64_t wait = step();
    EXPECT_NEAR(static_cast<double>(wait) / kSecond, static_cast<double>(expected), 0.001);
    clock_.advance(wait);
    expected = std::min<int64_t>(2 * expected, 60);
  }
  clock_.set_random(0);
  EXPECT_EQ(step(), kSecond / 10);
  EXPECT_EQ(uploader_->stats().last_error, "HTTP 503");
  EXPECT_EQ(uploader_->stats().failures, 11U);
  sender_.answer = [](const Payload&) { return SendOutcome::sent(); };
  clock_.advance(kSecond);
  step();
  EXPECT_EQ(uploader_->stats().last_error, "");
  EXPECT_FALSE(uploader_->is_backing_off());
}

TEST_F(UploaderTest, WaitsAsLongAsItIsAskedTo) {
  sender_.answer = [](const Payload&) { return SendOutcome::retry("HTTP 429", 120 * kSecond); };
  push({1});
  EXPECT_EQ(step(), 120 * kSecond);
  EXPECT_EQ(step(Uploader::Urgency::kNow), 120 * kSecond);
  EXPECT_EQ(uploader_->stats().attempts, 1U) << "not even a flush comes earlier";
  clock_.advance(120 * kSecond);
  // But not for ever.
  sender_.answer = [](const Payload&) {
    return SendOutcome::retry("HTTP 429", 1'000'000 * kSecond);
  };
  EXPECT_EQ(step(), 3600 * kSecond);
}

TEST_F(UploaderTest, AFlushDoesNotWaitForTheIntervalOrTheBackOff) {
  push({1});
  step();
  push({2});
  step(Uploader::Urgency::kNow);
  EXPECT_THAT(sender_.received, ElementsAre("1 ", "2 "));
  sender_.answer = [](const Payload&) { return SendOutcome::retry("down"); };
  push({3});
  step(Uploader::Urgency::kNow);
  sender_.answer = [](const Payload&) { return SendOutcome::sent(); };
  step(Uploader::Urgency::kNow);
  EXPECT_EQ(sender_.received.back(), "3 ");
}

TEST_F(UploaderTest, HalvesWhatIsTooLarge) {
  sender_.answer = [](const Payload& payload) {
    return payload.profiles > 2 ? SendOutcome::too_large("HTTP 413") : SendOutcome::sent();
  };
  push({1, 2, 3, 4, 5, 6, 7});
  step();
  EXPECT_THAT(sender_.received, ElementsAre("1 ", "2 3 ", "4 5 ", "6 7 "));
  EXPECT_EQ(uploader_->stats().sent, 7U);
  EXPECT_EQ(uploader_->stats().rejected, 0U);
}

TEST_F(UploaderTest, ASingleProfileThatIsTooLargeIsRejected) {
  sender_.answer = [](const Payload& payload) {
    return payload.bytes.find("2 ") != std::string::npos ? SendOutcome::too_large("HTTP 413")
                                                         : SendOutcome::sent();
  };
  push({1, 2, 3});
  step();
  EXPECT_THAT(sender_.received, ElementsAre("1 ", "3 "));
  EXPECT_EQ(uploader_->stats().sent, 2U);
  EXPECT_THAT(uploader_->stats().rejected_by_reason, ElementsAre(Pair("HTTP 413", 1)));
}

TEST_F(UploaderTest, GoesOnInTheMiddleOfABatchAfterARestart) {
  codec_.per_payload = 1;
  int left = 2;
  sender_.answer = [&](const Payload&) {
    return left-- > 0 ? SendOutcome::sent() : SendOutcome::retry("down");
  };
  push({1, 2, 3, 4});
  step();
  EXPECT_THAT(sender_.received, ElementsAre("1 ", "2 "));
  open();
  left = 10;
  step();
  EXPECT_THAT(sender_.received, ElementsAre("1 ", "2 ", "3 ", "4 "));
  EXPECT_EQ(uploader_->stats().sent, 2U);
}

TEST_F(UploaderTest, WhatIsRejectedIsCountedByReasonAndTheRestGoesOn) {
  sender_.answer = [](const Payload& payload) {
    if (payload.bytes == "1 ") return SendOutcome::rejected("HTTP 400: bad");
    if (payload.bytes == "2 2 ") return SendOutcome::partly_sent(1, "one is too old");
    return SendOutcome::sent();
  };
  push({1});
  push({2, 2});
  push({3});
  step();
  const UploaderStats stats = uploader_->stats();
  EXPECT_EQ(stats.sent, 2U);
  EXPECT_EQ(stats.rejected, 2U);
  EXPECT_THAT(stats.rejected_by_reason,
              ElementsAre(Pair("HTTP 400: bad", 1), Pair("one is too old", 1)));
}

TEST_F(UploaderTest, ReasonsAreBoundedInNumberAndLength) {
  for (int i = 0; i < 1000; ++i)
    uploader_->count_rejected(1, "reason " + std::to_string(i) + std::string(1000, 'x'));
  const UploaderStats stats = uploader_->stats();
  EXPECT_LE(stats.rejected_by_reason.size(), 65U);
  EXPECT_EQ(stats.rejected, 1000U);
  uint64_t sum = 0;
  for (const auto& [reason, count] : stats.rejected_by_reason) {
    EXPECT_LE(reason.size(), 200U);
    sum += count;
  }
  EXPECT_EQ(sum, 1000U);
}

}  // namespace
}  // namespace vesta::agent
