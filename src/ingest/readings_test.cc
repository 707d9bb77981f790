// Cumulative profiles: which are subtracted from one another, which are stored as they are, and
// that nothing goes missing without being counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time.h"
#include "ingest/ingest.h"
#include "profile/test_profiles.h"
#include "store/memory/memory_engine.h"

namespace vesta {
namespace {

using test::batch_from;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// With digits below the second, as programs have them.
constexpr int64_t kStart = 1'800'000'000'123'456'789;

class Readings : public ::testing::Test {
 protected:
  Readings() { restart(); }

  // The server's: what it had in memory is gone.
  void restart() {
    IngestOptions options;
    options.clock = [] { return UnixNs(kStart + kMinute); };
    ingest_ = std::make_unique<Ingest>(*engine_, std::move(options));
  }
  IngestReceipt push(int64_t seconds, int64_t value, LabelPairs labels = {},
                     DeltaMode mode = DeltaMode::kIfFollowing) {
    ProfileBatch batch = batch_from({{"main;lock", value}}, "delay", "nanoseconds");
    batch.profiles[0].time_ns = kStart + seconds * kSecond;
    IngestHints hints;
    hints.delta = mode;
    hints.labels = std::move(labels);
    hints.service = "shop";
    auto receipt = ingest_->write("t", std::move(batch), hints);
    EXPECT_TRUE(receipt.ok());
    return receipt.ok() ? *receipt : IngestReceipt();
  }
  int64_t total() {
    SelectRequest select;
    select.type = *ProfileType::parse("mutex:delay:nanoseconds::");
    select.range = kAllTime;
    const auto found = engine_->select("t", select);
    return found.ok() && !found->empty() ? found->at(0).total : 0;
  }

  std::unique_ptr<Engine> engine_ = make_memory_engine();
  std::unique_ptr<Ingest> ingest_;
};

TEST_F(Readings, WhatGodeltaprofMadeIsNotSubtractedAgain) {
  const std::vector<LabelPairs> marks = {
      {{"__name__", "godeltaprof_mutex"}},
      {{"__delta__", "false"}},
      {{"otel.scope.name", "com.grafana.pyroscope/godeltaprof"}},
  };
  int64_t expected = 0;
  int64_t seconds = 0;
  for (const LabelPairs& mark : marks) {
    for (const int64_t value : {239, 3, 240}) push(seconds++, value, mark);
    expected += 482;
    EXPECT_EQ(total(), expected) << mark[0].first;
  }
  EXPECT_EQ(ingest_->counters().noted(IngestNote::kFirstReadings), 0u);
}

TEST_F(Readings, OneThatIsPushedAloneIsStoredAsItIs) {
  const IngestReceipt receipt = push(0, 100);
  EXPECT_EQ(receipt.baselines, 0u);
  EXPECT_EQ(receipt.stored.profiles, 1u);
  EXPECT_EQ(total(), 100);
}

TEST_F(Readings, ThoseThatFollowAreDifferences) {
  push(0, 100);
  push(15, 130);
  push(30, 131);
  EXPECT_EQ(total(), 131);
}

TEST_F(Readings, AProgramThatStartsAgainCountsFromZero) {
  push(0, 239);
  push(1, 3);
  EXPECT_EQ(total(), 242);
}

TEST_F(Readings, AfterARestartOfTheServerTheFirstIsNotCountedAgain) {
  push(0, 100);
  restart();
  const IngestReceipt receipt = push(15, 130);
  EXPECT_EQ(receipt.baselines, 1u);
  EXPECT_EQ(total(), 100);
  EXPECT_EQ(ingest_->counters().noted(IngestNote::kFirstReadings), 1u);
  const auto listed = ingest_->baselines().list("t", 10);
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].service, "shop");
  EXPECT_EQ(listed[0].family, "mutex");
  EXPECT_EQ(listed[0].count, 1u);
  EXPECT_EQ(listed[0].last_ns, kStart + 15 * kSecond);
  EXPECT_THAT(ingest_->baselines().list("other", 10), IsEmpty());
  push(30, 131);
  EXPECT_EQ(total(), 101);
}

TEST_F(Readings, ReplicasWithMoreLabelsAreOtherPrograms) {
  push(0, 100, {{"pod", "a"}});
  restart();
  EXPECT_EQ(push(15, 7).baselines, 0u);
  EXPECT_EQ(total(), 107);
}

TEST_F(Readings, OneOfYesterdayIsNoReasonToDropTheNext) {
  push(-2 * 86'400, 100);
  restart();
  EXPECT_EQ(push(0, 130).baselines, 0u);
  EXPECT_EQ(total(), 230);
}

TEST_F(Readings, ALateOneIsPartOfThoseThatAreStored) {
  push(15, 130);
  const IngestReceipt receipt = push(0, 100);
  EXPECT_EQ(receipt.stale, 1u);
  EXPECT_EQ(total(), 130);
  // It counted more than later ones: another program's.
  EXPECT_EQ(push(1, 500).stale, 0u);
  EXPECT_EQ(total(), 630);
}

TEST_F(Readings, WhatIsFetchedBeginsWithABaseline) {
  EXPECT_EQ(push(0, 100, {}, DeltaMode::kIfCumulative).baselines, 1u);
  EXPECT_EQ(total(), 0);
  push(15, 130, {}, DeltaMode::kIfCumulative);
  EXPECT_EQ(total(), 30);
}

// Equal profiles: sent again, or two that are alike?
class EqualProfiles : public Readings {
 protected:
  uint64_t duplicates(int64_t time_ns, std::string id = {}) {
    ProfileBatch batch = batch_from({{"main;lock", 7}}, "delay", "nanoseconds");
    batch.profiles[0].time_ns = time_ns;
    IngestHints hints;
    hints.id = std::move(id);
    const auto receipt = ingest_->write("t", std::move(batch), hints);
    EXPECT_TRUE(receipt.ok());
    return receipt.ok() ? receipt->stored.duplicates : 99;
  }
};

TEST_F(EqualProfiles, AreOneByTheirOwnNanosecond) {
  EXPECT_EQ(duplicates(kStart), 0u);
  EXPECT_EQ(duplicates(kStart), 1u);
  EXPECT_EQ(duplicates(kStart, "a"), 1u);  // whatever it is called
  EXPECT_EQ(total(), 7);
}

TEST_F(EqualProfiles, OfASecondAreTwo) {
  const int64_t second = kStart / kSecond * kSecond;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(duplicates(second), 0u);
  EXPECT_EQ(duplicates(second + 5'000'000), 0u);
  EXPECT_EQ(duplicates(second + 5'000'000), 0u);
  EXPECT_EQ(total(), 49);
}

TEST_F(EqualProfiles, OfASecondAreOneByTheirId) {
  const int64_t second = kStart / kSecond * kSecond;
  EXPECT_EQ(duplicates(second, "a"), 0u);
  EXPECT_EQ(duplicates(second, "a"), 1u);
  EXPECT_EQ(duplicates(second, "b"), 0u);
  restart();
  EXPECT_EQ(duplicates(second, "b"), 1u);
  EXPECT_EQ(total(), 14);
}

TEST(BaselineLog, ForgetsThoseNotedLongestAgo) {
  BaselineLog log(2);
  log.note("t", "a", "memory", 1);
  log.note("t", "b", "memory", 2);
  log.note("t", "a", "memory", 3);
  log.note("t", "c", "memory", 4);
  const auto names = [](const std::vector<Baselines>& all) {
    std::vector<std::string> out;
    for (const Baselines& each : all) out.push_back(each.service + std::to_string(each.count));
    return out;
  };
  EXPECT_THAT(names(log.list("t", 10)), ElementsAre("c1", "a2"));
  EXPECT_THAT(names(log.list("t", 1)), ElementsAre("c1"));
}

}  // namespace
}  // namespace vesta
