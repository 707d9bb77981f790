// Totals over time: a profile is spread over the time that it covers.
#include <gmock/gmock.h>

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

}  // namespace
}  // namespace vesta::test
