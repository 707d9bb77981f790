// Totals over time: a profile is spread over the time that it covers.
#include <gmock/gmock.h>

#include "store/stack_tree.h"
#include "store/testing/engine_suite.h"

namespace vesta::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

ProfileSpec cpu(const std::string& pod, int64_t time_ns, int64_t duration_ns, int64_t value) {
  return {.labels = {{"service_name", "web"}, {"pod", pod}},
          .time_ns = time_ns,
          .duration_ns = duration_ns,
          .samples = {{"main", value}}};
}

int64_t sum_of(const std::vector<TotalsSeries>& answer) {
  int64_t sum = 0;
  for (const TotalsSeries& series : answer)
    for (const TotalsPoint& point : series.points) sum += point.value;
  return sum;
}

TEST_P(EngineSuite, ProfilesOfAMinuteAreTwoCoresInEveryTenSeconds) {
  std::vector<ProfileSpec> specs;
  for (int64_t minute = 0; minute < 180; ++minute) {
    specs.push_back(
        cpu("a", kStartNs + 7 * kSecondNs + minute * kMinuteNs, kMinuteNs, 2 * kMinuteNs));
  }
  write(specs);
  whenever([&] {
    for (const int64_t step : {10 * kSecondNs, 50 * kSecondNs, kMinuteNs, 7 * kMinuteNs}) {
      const TimeRange range{kStartNs + kMinuteNs, kStartNs + 150 * kMinuteNs};
      const auto answer = totals(totals_request(step, range));
      ASSERT_THAT(answer, SizeIs(1));
      for (const TotalsPoint& point : answer[0].points) {
        const int64_t length = std::min(step, range.end_ns - point.time_ns);
        EXPECT_NEAR(static_cast<double>(point.value), static_cast<double>(2 * length), 2);
        EXPECT_EQ(point.covered_ns, length);
      }
      EXPECT_EQ(sum_of(answer), 2 * (range.end_ns - range.start_ns));
    }
  });
}

TEST_P(EngineSuite, AProfileThatReachesIntoTheRangeCountsInPart) {
  write({cpu("a", kStartNs - 30 * kSecondNs, kMinuteNs, 600),
         cpu("b", kStartNs + kMinuteNs - 10 * kSecondNs, 20 * kSecondNs, 200),
         cpu("a", kStartNs + 25 * kHourNs - kMinuteNs, 3 * kHourNs, 180)});
  whenever([&] {
    auto answer = totals(totals_request(kMinuteNs, {kStartNs, kStartNs + kMinuteNs}));
    ASSERT_THAT(answer, SizeIs(1));
    EXPECT_THAT(answer[0].points, ElementsAre(TotalsPoint{kStartNs, 400, 400, 1, 40 * kSecondNs}));
    // Over three hours of two days, by steps that are aligned to nothing.
    answer = totals(totals_request(kHourNs, {kStartNs + 24 * kHourNs, kStartNs + 29 * kHourNs}));
    ASSERT_THAT(answer, SizeIs(1));
    EXPECT_THAT(answer[0].points,
                ElementsAre(TotalsPoint{kStartNs + 24 * kHourNs, 1, 1, 1, kMinuteNs},
                            TotalsPoint{kStartNs + 25 * kHourNs, 60, 60, 0, kHourNs},
                            TotalsPoint{kStartNs + 26 * kHourNs, 60, 60, 0, kHourNs},
                            TotalsPoint{kStartNs + 27 * kHourNs, 59, 59, 0, kHourNs - kMinuteNs}));
    EXPECT_THAT(totals(totals_request(kHourNs, {kStartNs + 28 * kHourNs, INT64_MAX})), IsEmpty());
    // The whole is what was sent.
    EXPECT_EQ(sum_of(totals(totals_request(kDayNs, kAllTime))), 980);
    EXPECT_EQ(sum_of(totals(totals_request(7 * kMinuteNs + 1, kAllTime))), 980);
  });
}

TEST_P(EngineSuite, CoveredTimeIsTheUnionOverTheInstances) {
  // A deploy: the new version comes while the old one still runs, then nothing.
  std::vector<ProfileSpec> specs;
  for (int64_t i = 0; i < 40; ++i)
    specs.push_back(cpu("old", kStartNs + i * kMinuteNs, kMinuteNs, 100));
  for (int64_t i = 35; i < 50; ++i)
    specs.push_back(cpu("new", kStartNs + i * kMinuteNs, kMinuteNs, 100));
  write(specs);
  whenever([&] {
    auto answer = totals(totals_request(2 * kHourNs, {kStartNs, kStartNs + 2 * kHourNs}));
    ASSERT_THAT(answer, SizeIs(1));
    EXPECT_THAT(answer[0].points,
                ElementsAre(TotalsPoint{kStartNs, 5500, 5500, 55, 50 * kMinuteNs}));
    TotalsRequest by_pod = totals_request(2 * kHourNs, {kStartNs, kStartNs + 2 * kHourNs});
    by_pod.group_by = {"pod"};
    answer = totals(by_pod);
    ASSERT_THAT(answer, SizeIs(2));
    EXPECT_EQ(answer[0].points[0].covered_ns, 15 * kMinuteNs);
    EXPECT_EQ(answer[1].points[0].covered_ns, 40 * kMinuteNs);
  });
}

TEST_P(EngineSuite, GapsBetweenProfilesAreNotCovered) {
  std::vector<ProfileSpec> specs;
  for (int64_t i = 0; i < 400; ++i)
    specs.push_back(cpu("a", kStartNs + i * 15 * kSecondNs, 10 * kSecondNs, 10));
  write(specs);
  whenever([&] {
    const auto answer = totals(totals_request(kHourNs, {kStartNs, kStartNs + kDayNs}));
    ASSERT_THAT(answer, SizeIs(1));
    EXPECT_THAT(answer[0].points,
                ElementsAre(TotalsPoint{kStartNs, 2400, 2400, 240, 2400 * kSecondNs},
                            TotalsPoint{kStartNs + kHourNs, 1600, 1600, 160, 1600 * kSecondNs}));
  });
}

TEST_P(EngineSuite, PointsThatOverlapTheRangeAreFoundWhereverTheyStart) {
  const TimeRange range{kStartNs + 2 * kHourNs, kStartNs + 2 * kHourNs + 10 * kSecondNs};
  write({cpu("before", range.start_ns - kMinuteNs, kMinuteNs, 1),  // ends where the range starts
         cpu("reaches", range.start_ns - kMinuteNs, kMinuteNs + 1, 2),
         cpu("spans", range.start_ns - kHourNs, 2 * kHourNs, 3),
         cpu("inside", range.start_ns, 0, 4),  // does not say how long it took
         cpu("leaves", range.end_ns - 1, kHourNs, 5), cpu("after", range.end_ns, kHourNs, 6),
         cpu("instant", range.start_ns - 1, 0, 7)});
  whenever([&] {
    PointsRequest asked = points_request(kCpuType, "{}", range);
    const auto values = [&] {
      std::vector<int64_t> found;
      for (const ProfilePoint& point : points(asked)) found.push_back(point.value);
      return found;
    };
    EXPECT_THAT(values(), testing::UnorderedElementsAre(4, 5));
    asked.overlapping = true;
    EXPECT_THAT(values(), testing::UnorderedElementsAre(2, 3, 4, 5));
    asked.marks = [](const StackTree& tree) { return std::vector<uint8_t>(tree.stack_count(), 1); };
    EXPECT_THAT(values(), testing::UnorderedElementsAre(2, 3, 4, 5)) << "from the samples";
  });
}

// Two cores for three minutes, then four for two.
std::vector<ProfileSpec> two_speeds() {
  std::vector<ProfileSpec> specs;
  for (int64_t minute = 0; minute < 5; ++minute) {
    const int64_t cores = minute < 3 ? 2 : 4;
    specs.push_back(
        {.labels = {{"service_name", "web"}},
         .time_ns = kStartNs + minute * kMinuteNs,
         .duration_ns = kMinuteNs,
         .samples = {{"main;work", (cores - 1) * kMinuteNs}, {"main;idle", kMinuteNs}}});
  }
  return specs;
}

TEST_P(EngineSuite, WhatIsChosenByRateIsThePartThatFallsIntoTheRange) {
  write(two_speeds());
  whenever([&] {
    SelectRequest asked = request();
    asked.rates = RateRange{};
    asked.range = {kStartNs + 10 * kSecondNs, kStartNs + 20 * kSecondNs};
    Selection part = select(asked);
    EXPECT_EQ(part.total, 20 * kSecondNs);
    EXPECT_EQ(part.profiles, 1U);
    EXPECT_EQ(part.covered.duration_ns(), 10 * kSecondNs);
    EXPECT_THAT(weights_of(part), ElementsAre(std::pair("web|main;idle", 10 * kSecondNs),
                                              std::pair("web|main;work", 10 * kSecondNs)));
    // By rate: the second half of the third minute, and the first of the fourth.
    asked.range = {kStartNs + 150 * kSecondNs, kStartNs + 210 * kSecondNs};
    const auto total = [&](RateRange rates) {
      asked.rates = rates;
      return select(asked).total;
    };
    EXPECT_EQ(total({}), 180 * kSecondNs);
    EXPECT_EQ(total({2e9, 4e9}), 60 * kSecondNs);
    EXPECT_EQ(total({4e9, 5e9}), 120 * kSecondNs);
    EXPECT_EQ(total({2.5e9, 3.5e9}), 0);
    SamplesRequest exported = samples_request();
    exported.select = asked;
    exported.select.rates = RateRange{4e9, 5e9};
    const ProfileBatch back = samples(exported);
    ASSERT_THAT(back.profiles, SizeIs(1));
    EXPECT_EQ(total_of(back.profiles[0], 0), 120 * kSecondNs);
    EXPECT_EQ(back.profiles[0].duration_ns, 30 * kSecondNs);
    EXPECT_EQ(back.profiles[0].time_ns, kStartNs + 180 * kSecondNs);
  });
}

TEST_P(EngineSuite, PartsOfSamplesAddUpToWhatTotalsSay) {
  // Single counts, which cannot be cut: they fall into one part or another, none is lost.
  std::vector<ProfileSpec> specs;
  for (int64_t minute = 0; minute < 70; ++minute) {
    ProfileSpec spec{.labels = {{"service_name", "web"}},
                     .time_ns = kStartNs + minute * kMinuteNs,
                     .duration_ns = kMinuteNs + minute * kSecondNs,
                     .samples = {}};
    for (int64_t i = 0; i < 7; ++i)
      spec.samples.push_back({"main;f" + std::to_string(i), 1 + (minute + i) % 2});
    specs.push_back(spec);
  }
  write(specs);
  whenever([&] {
    const TimeRange range{kStartNs + 55 * kMinuteNs, kStartNs + 75 * kMinuteNs};
    const auto charted = totals(totals_request(7 * kSecondNs, range));
    ASSERT_THAT(charted, SizeIs(1));
    int64_t sum = 0;
    std::map<std::string, int64_t> weights;
    SelectRequest asked = request();
    asked.rates = RateRange{};
    for (size_t i = 0; i < charted[0].points.size(); i += 10) {
      const TotalsPoint& point = charted[0].points[i];
      asked.range = {point.time_ns, std::min(point.time_ns + 7 * kSecondNs, range.end_ns)};
      EXPECT_EQ(select(asked).total, point.value);
    }
    for (int64_t at = range.start_ns; at < range.end_ns; at += kMinuteNs) {
      asked.range = {at, at + kMinuteNs};
      const Selection part = select(asked);
      sum += part.total;
      for (const auto& [stack, weight] : weights_of(part)) {
        EXPECT_GE(weight, 0);
        weights[stack] += weight;
      }
    }
    EXPECT_EQ(sum, sum_of(charted));
    asked.range = range;
    EXPECT_EQ(weights_of(select(asked)), weights) << "each stack is conserved, too";
  });
}

TEST_P(EngineSuite, NothingIsChosenByRateThatHasNone) {
  write({cpu("a", kStartNs, 0, 100),
         {.type = std::string(kHeapType), .time_ns = kStartNs, .samples = {{"main", 100}}}});
  whenever([&] {
    SelectRequest asked = request();
    asked.rates = RateRange{};
    EXPECT_EQ(select(asked).profiles, 0U) << "no duration";
    asked = request(kHeapType);
    asked.rates = RateRange{};
    EXPECT_EQ(select(asked).profiles, 0U) << "a gauge";
  });
}

}  // namespace
}  // namespace vesta::test
