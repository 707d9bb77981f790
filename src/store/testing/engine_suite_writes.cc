// Writing: duplicates, order, odd names, large batches, budgets, threads.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "profile/dictionary_builder.h"
#include "store/testing/engine_suite.h"

namespace vesta::test {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using Weights = std::map<std::string, int64_t>;

ProfileSpec web(int64_t time_ns, std::vector<SampleSpec> samples, std::string pod = "a") {
  return {.labels = {{"service_name", "web"}, {"pod", std::move(pod)}},
          .time_ns = time_ns,
          .samples = std::move(samples)};
}

TEST_P(EngineSuite, AReceiptSaysWhatWasWritten) {
  WriteReceipt receipt =
      write({web(kStartNs, {{"main;a", 1}, {"main;b", 2}}), web(kStartNs, {{"main;a", 1}}, "b")});
  EXPECT_EQ(receipt.profiles, 2U);
  EXPECT_EQ(receipt.samples, 3U);
  EXPECT_EQ(receipt.new_series, 2U);
  EXPECT_EQ(receipt.new_stacks, 2U);
  EXPECT_EQ(receipt.duplicates, 0U);
  EXPECT_EQ(receipt.expired, 0U);
  receipt = write({web(kStartNs + 1, {{"main;a", 1}, {"main;c", 2}})});
  EXPECT_EQ(receipt.new_series, 0U);
  EXPECT_EQ(receipt.new_stacks, 1U);
}

TEST_P(EngineSuite, AnEmptyBatchIsNothing) {
  const WriteReceipt receipt = write(ProfileBatch{});
  EXPECT_EQ(receipt.profiles, 0U);
  EXPECT_EQ(engine().stats().series, 0U);
}

TEST_P(EngineSuite, AProfileSentAgainIsWrittenOnce) {
  const std::vector<ProfileSpec> specs = {web(kStartNs, {{"main;a", 1}, {"main;b", 2}}),
                                          web(kStartNs, {{"main;a", 5}}, "b")};
  write(specs);
  whenever([&] {
    const WriteReceipt again = write(specs);
    EXPECT_EQ(again.duplicates, 2U);
    EXPECT_EQ(again.profiles, 0U);
    EXPECT_EQ(again.samples, 0U);
    const Selection sum = select();
    EXPECT_EQ(sum.total, 8);
    EXPECT_EQ(sum.profiles, 2U);
    EXPECT_THAT(points(points_request()), SizeIs(2));
  });
}

TEST_P(EngineSuite, EqualProfilesOfOneBatchAreOne) {
  const WriteReceipt receipt = write({web(kStartNs, {{"m", 1}}), web(kStartNs, {{"m", 1}})});
  EXPECT_EQ(receipt.profiles, 1U);
  EXPECT_EQ(receipt.duplicates, 1U);
  whenever([&] { EXPECT_EQ(select().total, 1); });
}

TEST_P(EngineSuite, ProfilesThatDifferInAnythingAreTwo) {
  const std::vector<ProfileSpec> different = {
      web(kStartNs, {{"m", 1}}),
      web(kStartNs, {{"m", 2}}),
      web(kStartNs, {{"n", 1}}),
      web(kStartNs, {{"m", 1}, {"n", 1}}),
      web(kStartNs + 1, {{"m", 1}}),
      web(kStartNs, {{"m", 1, {{"thread", "x"}}}}),
      web(kStartNs, {{"m", 1, {}, {{"size", 1}}}}),
      web(kStartNs, {{"m", 1, {}, {}, {}, kStartNs + 1}}),
      web(kStartNs, {{"m", 1, {}, {}, {{1}, {1}}}}),
      web(kStartNs, {{"m", 1}}, "b"),
  };
  for (const ProfileSpec& spec : different) EXPECT_EQ(write({spec}).duplicates, 0U);
  ProfileSpec longer = different[0];
  longer.duration_ns += 1;
  EXPECT_EQ(write({longer}).duplicates, 0U);
  whenever([&] {
    EXPECT_EQ(select().profiles, different.size() + 1);
    for (const ProfileSpec& spec : different) EXPECT_EQ(write({spec}).duplicates, 1U);
  });
}

TEST_P(EngineSuite, ADeletedProfileCanBeWrittenAgain) {
  const std::vector<ProfileSpec> specs = {web(kStartNs, {{"m", 1}})};
  write(specs);
  EXPECT_EQ(remove("{}"), 1U);
  EXPECT_EQ(write(specs).profiles, 1U);
  whenever([&] { EXPECT_EQ(select().total, 1); });
}

TEST_P(EngineSuite, TheOrderOfWritesDoesNotMatter) {
  // From the newest to the oldest, with all due work done in between, so that every write is late.
  int64_t sum = 0;
  for (int64_t i = 60; i-- > 0;) {
    const int64_t value = i * i + 1;
    sum += value;
    write({web(kStartNs + i * 53 * kMinuteNs, {{"m;f" + std::to_string(i % 7), value}},
               i % 2 == 0 ? "a" : "b")});
    if (i % 10 == 0) {
      ASSERT_TRUE(engine().maintain());
    }
    ASSERT_EQ(select().total, sum) << "what was written is seen";
  }
  whenever([&] {
    EXPECT_EQ(select().total, sum);
    EXPECT_EQ(select().profiles, 60U);
    const auto daily = totals(totals_request(kDayNs, {kStartNs, kStartNs + 3 * kDayNs}));
    ASSERT_THAT(daily, SizeIs(1));
    int64_t over_days = 0;
    for (const TotalsPoint& point : daily[0].points) over_days += point.value;
    EXPECT_EQ(over_days, sum);
  });
}

TEST_P(EngineSuite, ALateProfileIsSeenInEveryAnswer) {
  for (int64_t hour = 0; hour < 50; ++hour) write({web(kStartNs + hour * kHourNs, {{"m", 1}})});
  ASSERT_TRUE(engine().maintain());
  write({web(kStartNs + 5 * kHourNs + kMinuteNs, {{"m;late", 100}})});
  whenever([&] {
    EXPECT_EQ(select().total, 150);
    EXPECT_EQ(select("{}", {kStartNs, kStartNs + kDayNs}).total, 124);
    EXPECT_EQ(select("{}", {kStartNs + 5 * kHourNs, kStartNs + 6 * kHourNs}).total, 101);
    EXPECT_EQ(select(R"({pod="a"})", {kStartNs, kStartNs + 2 * kDayNs}).total, 148);
  });
}

TEST_P(EngineSuite, NamesMayBeAnyBytes) {
  const std::string not_utf8 = "\xff\xfe\x80";
  const std::string with_zero("a\0b", 3);
  const std::string huge(64 * 1024, 'x');
  write({{.labels = {{"service_name", not_utf8}, {with_zero, huge}, {huge, with_zero}},
          .samples = {{not_utf8 + ";" + with_zero + ";" + huge, 1, {{huge, not_utf8}}},
                      {";;", 2},
                      {"", 4}}}});
  write({{.labels = {{"service_name", with_zero}}, .samples = {{"m", 8}}},
         {.labels = {{"service_name", "a"}}, .samples = {{"m", 16}}},
         {.labels = {{"service_name", huge}}, .samples = {{"m", 32}}}});
  whenever([&] {
    EXPECT_THAT(values("service_name"), ElementsAre("a", with_zero, huge, not_utf8));
    EXPECT_THAT(values(with_zero), ElementsAre(huge));
    EXPECT_THAT(values(huge), ElementsAre(with_zero));
    const Weights weights = weights_of(select());
    EXPECT_EQ(weights.at(not_utf8 + "|" + not_utf8 + ";" + with_zero + ";" + huge), 1);
    EXPECT_EQ(weights.at(not_utf8 + "|"), 4) << "a stack without frames";
    EXPECT_EQ(weights.at(with_zero + "|m"), 8);
    EXPECT_EQ(weights.at("a|m"), 16);
    EXPECT_EQ(weights.at(huge + "|m"), 32);
    EXPECT_EQ(select().total, 63);
    SelectRequest asked = request();
    asked.samples.labels.push_back(
        LabelMatcher::make(huge, MatchOperator::kEqual, not_utf8).value());
    EXPECT_EQ(select(asked).total, 1);
  });
}

TEST_P(EngineSuite, TenantsMayHaveAnyName) {
  const std::vector<std::string> tenants = {
      "", "a", std::string("a\0", 2), std::string("a\0b", 3), "b", "\xff", std::string(1000, 't')};
  for (size_t i = 0; i < tenants.size(); ++i)
    write(batch_of({web(kStartNs, {{"m", int64_t{1} << i}})}), tenants[i]);
  whenever([&] {
    for (size_t i = 0; i < tenants.size(); ++i)
      EXPECT_EQ(select(request(), tenants[i]).total, int64_t{1} << i);
  });
}

TEST_P(EngineSuite, TakesTenThousandSeries) {
  constexpr int kSeries = 10'000;
  std::vector<ProfileSpec> specs;
  specs.reserve(kSeries);
  for (int i = 0; i < kSeries; ++i)
    specs.push_back(web(kStartNs, {{"m", 1}}, "pod-" + std::to_string(i)));
  EXPECT_EQ(write(specs).new_series, static_cast<uint64_t>(kSeries));
  whenever([&] {
    EXPECT_THAT(values("pod"), SizeIs(kSeries));
    EXPECT_THAT(values("pod", "{}", kAllTime, "pod-999"), SizeIs(11));
    EXPECT_EQ(select().total, kSeries);
    EXPECT_EQ(select(R"({pod=~"pod-.*7"})").total, kSeries / 10);
  });
}

TEST_P(EngineSuite, TakesASeriesOfTenThousandLabels) {
  ProfileSpec spec = web(kStartNs, {{"m", 1}});
  for (int i = 0; i < 10'000; ++i) spec.labels["label" + std::to_string(i)] = std::to_string(i);
  write({spec});
  whenever([&] {
    EXPECT_THAT(names(), SizeIs(10'000 + 2 + 7));
    EXPECT_EQ(select(R"({label9999="9999"})").total, 1);
    EXPECT_THAT(values("label1234"), ElementsAre("1234"));
  });
}

TEST_P(EngineSuite, TakesAHundredThousandStacks) {
  constexpr int kStacks = 100'000;
  ProfileBatch batch = batch_of({web(kStartNs, {})});
  DictionaryBuilder builder(batch.dictionary);
  const LocationId root = builder.frame("main");
  for (int i = 0; i < kStacks; ++i) {
    const LocationId stack[] = {builder.frame("leaf" + std::to_string(i)),
                                builder.frame("middle" + std::to_string(i / 100)), root};
    const int64_t value = i + 1;
    batch.profiles.front().add_sample(builder.stack(stack), {&value, 1});
  }
  const WriteReceipt receipt = write(batch);
  EXPECT_EQ(receipt.new_stacks, static_cast<uint64_t>(kStacks));
  EXPECT_EQ(receipt.samples, static_cast<uint64_t>(kStacks));
  whenever([&] {
    const Selection sum = select();
    EXPECT_EQ(sum.total, int64_t{kStacks} * (kStacks + 1) / 2);
    EXPECT_EQ(weights_of(sum).at("web|main;middle12;leaf1234"), 1235);
    EXPECT_EQ(engine().stats().stacks, static_cast<uint64_t>(kStacks));
  });
}

TEST_P(EngineSuite, ADeepStackIsKeptWhole) {
  std::string deep = "f0";
  for (int i = 1; i < 5000; ++i) deep += ";f" + std::to_string(i % 10);
  write({web(kStartNs, {{deep, 1}})});
  whenever([&] { EXPECT_EQ(weights_of(select()), (Weights{{"web|" + deep, 1}})); });
}

TEST_P(EngineSuite, AQueryOverItsBudgetIsRefused) {
  std::vector<SampleSpec> stacks;
  stacks.reserve(10'000);
  for (int i = 0; i < 10'000; ++i) stacks.push_back({"main;f" + std::to_string(i), 1});
  write({web(kStartNs, stacks)});
  for (const bool by_time : {false, true}) {
    SCOPED_TRACE(by_time ? "deadline" : "bytes");
    QueryBudget budget;
    if (by_time) {
      budget.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
    } else {
      budget.bytes = 16;
    }
    SelectRequest asked = request();
    asked.budget = budget;
    const auto selected = engine().select(kTenant, asked);
    ASSERT_FALSE(selected);
    EXPECT_EQ(selected.error().code, ErrorCode::kLimit);
    EXPECT_NE(selected.error().hint, "") << "says what to narrow";
    SamplesRequest exported = samples_request();
    exported.select.budget = budget;
    const auto samples = engine().samples(kTenant, exported);
    ASSERT_FALSE(samples);
    EXPECT_EQ(samples.error().code, ErrorCode::kLimit);
    TotalsRequest over_time = totals_request(kSecondNs, {kStartNs, kStartNs + kHourNs});
    over_time.budget = budget;
    const auto totals = engine().totals(kTenant, over_time);
    ASSERT_FALSE(totals);
    EXPECT_EQ(totals.error().code, ErrorCode::kLimit);
    PointsRequest single = points_request();
    single.budget = budget;
    const auto points = engine().points(kTenant, single);
    ASSERT_FALSE(points);
    EXPECT_EQ(points.error().code, ErrorCode::kLimit);
  }
  EXPECT_EQ(select().total, 10'000) << "the next query has a budget of its own";
}

TEST_P(EngineSuite, AWriteNeedNotWaitForTheDisk) {
  const auto written = engine().write(kTenant, batch_of({web(kStartNs, {{"m", 1}})}),
                                      {.durable = false, .now_ns = 0, .piece_of = {}});
  ASSERT_TRUE(written);
  EXPECT_EQ(select().total, 1) << "seen at once";
  ASSERT_TRUE(engine().flush());
  whenever([&] { EXPECT_EQ(select().total, 1); });
}

TEST_P(EngineSuite, ThreadsMayDoEverythingAtOnce) {
  constexpr int kWrites = 40;
  const auto write_pod = [&](const std::string& pod) {
    for (int i = 0; i < kWrites; ++i) {
      EXPECT_TRUE(engine().write(
          kTenant,
          batch_of({web(kStartNs + i * 7 * kMinuteNs, {{"m;" + pod + std::to_string(i), 1}}, pod)}),
          {}));
    }
  };
  std::vector<std::jthread> threads;
  for (const char* pod : {"a", "b", "c"}) threads.emplace_back(write_pod, pod);
  threads.emplace_back([&](const std::stop_token& stop) {
    int64_t seen = 0;
    while (!stop.stop_requested()) {
      const auto answer = engine().select(kTenant, request());
      ASSERT_TRUE(answer);
      const Selection& sum = answer->front();
      EXPECT_GE(sum.total, seen) << "nothing is unwritten";
      EXPECT_EQ(sum.total, static_cast<int64_t>(sum.profiles)) << "no half of a write is seen";
      for (const auto& [stack, weight] : weights_of(sum)) EXPECT_EQ(weight, 1) << stack;
      seen = sum.total;
      EXPECT_TRUE(engine().label_values(kTenant, "pod", {}, kAllTime, {}, 0));
    }
  });
  threads.emplace_back([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      EXPECT_TRUE(engine().maintain());
      EXPECT_TRUE(engine().remove("other", {}, kAllTime));
    }
  });
  for (size_t i = 0; i < 3; ++i) threads[i].join();
  for (std::jthread& thread : threads) thread.request_stop();
  threads.clear();
  whenever([&] { EXPECT_EQ(select().total, 3 * kWrites); });
}

}  // namespace
}  // namespace vesta::test
