// Weights, ranges, groups, totals over time.
#include <gmock/gmock.h>

#include <limits>

#include "profile/merged_profile.h"
#include "store/covered_time.h"
#include "store/stack_tree.h"
#include "store/testing/engine_suite.h"

namespace vesta::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Weights = std::map<std::string, int64_t>;

ProfileSpec cpu(std::string pod, int64_t time_ns, std::vector<SampleSpec> samples) {
  return {.labels = {{"service_name", "web"}, {"pod", std::move(pod)}},
          .time_ns = time_ns,
          .samples = std::move(samples)};
}
ProfileSpec heap(std::string pod, int64_t time_ns, std::vector<SampleSpec> samples) {
  ProfileSpec spec = cpu(std::move(pod), time_ns, std::move(samples));
  spec.type = kHeapType;
  return spec;
}

TEST_P(EngineSuite, AddsProfilesUpStackByStack) {
  write({cpu("a", kStartNs, {{"main;work", 5}, {"main;wait", 3}})});
  write({cpu("b", kStartNs + kSecondNs, {{"main;work", 7}, {"main", 1}})});
  write({cpu("a", kStartNs + kDayNs, {{"main;work", 2}})});
  whenever([&] {
    const Selection sum = select();
    EXPECT_EQ(weights_of(sum),
              (Weights{{"web|main;work", 14}, {"web|main;wait", 3}, {"web|main", 1}}));
    EXPECT_EQ(sum.total, 18);
    EXPECT_EQ(sum.profiles, 3U);
    EXPECT_EQ(sum.period, 10'000'000);
    EXPECT_EQ(sum.first_ns, kStartNs);
    EXPECT_EQ(sum.last_ns, kStartNs + kDayNs);
    EXPECT_EQ(sum.covered.duration_ns(), 30 * kSecondNs);
    EXPECT_EQ(weights_of(select(R"({pod="b"})")), (Weights{{"web|main;work", 7}, {"web|main", 1}}));
  });
}

// Labels of samples that became labels of series: several profiles are stored, one was taken.
TEST_P(EngineSuite, PiecesOfOneProfileCoverItsTimeOnce) {
  const auto piece = [](const char* pod, const char* path, int64_t time_ns, PieceOrigin origin) {
    ProfileSpec spec = cpu(pod, time_ns, {{"main", 1}});
    spec.labels["path"] = path;
    spec.piece_of = origin;
    return spec;
  };
  constexpr PieceOrigin kPodA = piece_origin(10, false);
  constexpr PieceOrigin kPodB = piece_origin(20, false);
  const int64_t later = kStartNs + 10 * kSecondNs;
  write({piece("a", "/x", kStartNs, kPodA), piece("a", "/y", kStartNs, kPodA),
         piece("a", "", kStartNs, kPodA)});
  write({piece("a", "/x", later, kPodA), piece("a", "/z", later, kPodA)});
  write({piece("b", "/x", kStartNs, kPodB), piece("b", "/y", kStartNs, kPodB)});
  write({cpu("c", kStartNs, {{"main", 1}})});
  write({piece("a", "/x", kStartNs + kDayNs, kPodA), piece("a", "/y", kStartNs + kDayNs, kPodA)});
  whenever([&] {
    const auto seconds = [&](std::string_view selector) {
      return select(selector).covered.duration_ns() / kSecondNs;
    };
    EXPECT_EQ(select().profiles, 10U);
    EXPECT_EQ(seconds("{}"), 50);
    EXPECT_EQ(seconds(R"({pod="a"})"), 30);
    EXPECT_EQ(seconds(R"({pod="b"})"), 10);
    EXPECT_EQ(seconds(R"({path="/x"})"), 40);
    EXPECT_EQ(seconds(R"({path=~"/y|/z"})"), 40) << "of a twice and later, of b";
    EXPECT_EQ(seconds(R"({path=~"/z|/y", pod="a"})"), 30);
    SelectRequest by_path = request();
    by_path.group_by = {"path"};
    std::map<std::string, int64_t> groups;
    for (const Selection& group : select_all(by_path))
      groups[std::string(label_value(group.group, "path"))] =
          group.covered.duration_ns() / kSecondNs;
    EXPECT_EQ(groups,
              (std::map<std::string, int64_t>{{"", 20}, {"/x", 40}, {"/y", 30}, {"/z", 10}}));
  });
}

TEST_P(EngineSuite, PiecesInSeveralServicesCoverTheTimeOfTheirProfileOnce) {
  constexpr PieceOrigin kHost = piece_origin(10, true);
  for (const int64_t time_ns : {kStartNs, kStartNs + kHourNs}) {
    write({{.labels = {{"service_name", "web"}},
            .time_ns = time_ns,
            .samples = {{"main", 1}},
            .piece_of = kHost},
           {.labels = {{"service_name", "db"}},
            .time_ns = time_ns,
            .samples = {{"main", 1}},
            .piece_of = kHost}});
  }
  whenever([&] {
    EXPECT_EQ(select().covered.duration_ns(), 20 * kSecondNs);
    EXPECT_EQ(select(R"({service_name="db"})").covered.duration_ns(), 20 * kSecondNs);
  });
}

TEST_P(EngineSuite, SamplesThatAreAlikeAreAddedUpAndZerosLeftOut) {
  const WriteReceipt receipt = write(
      {cpu("a", kStartNs,
           {{"main", 2}, {"main", 3}, {"main;zero", 0}, {"main;gone", 4}, {"main;gone", -4}})});
  EXPECT_EQ(receipt.profiles, 1U);
  EXPECT_EQ(receipt.samples, 1U);
  whenever([&] {
    EXPECT_EQ(weights_of(select()), (Weights{{"web|main", 5}}));
    EXPECT_EQ(lines_of(samples(samples_request())).size(), 2U);  // the profile and its one sample
  });
}

TEST_P(EngineSuite, ServicesStandSideBySideByName) {
  write({{.labels = {{"service_name", "web"}}, .samples = {{"main", 1}}},
         {.labels = {{"service_name", "api"}}, .samples = {{"main", 2}}},
         {.labels = {{"service_name", "idle"}}, .samples = {}}});
  whenever([&] {
    const Selection sum = select();
    EXPECT_EQ(weights_of(sum), (Weights{{"api|main", 2}, {"web|main", 1}}));
    ASSERT_EQ(sum.services.size(), 2U) << "none without weight";
    EXPECT_EQ(sum.services[0].service, "api");
    EXPECT_EQ(sum.services[1].service, "web");
    EXPECT_EQ(sum.profiles, 3U);
  });
}

TEST_P(EngineSuite, RangesHoldTheirStartAndNotTheirEnd) {
  // At the edges of all that an engine might group by, and beside them.
  std::vector<int64_t> times;
  for (const int64_t edge : {int64_t{0}, 10 * kMinuteNs, kHourNs, 2 * kHourNs, kDayNs,
                             kDayNs + kHourNs, 2 * kDayNs, 3 * kDayNs}) {
    for (const int64_t beside :
         {int64_t{-1'000'000}, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{1'000'000}}) {
      times.push_back(kStartNs + edge + beside);
    }
  }
  for (size_t i = 0; i < times.size(); ++i)
    write({cpu(i % 2 == 0 ? "a" : "b", times[i], {{"main", int64_t{1} << i}})});
  const auto sum_of = [&](TimeRange range, size_t step) {
    int64_t sum = 0;
    for (size_t i = 0; i < times.size(); i += step)
      if (range.contains(times[i])) sum += int64_t{1} << i;
    return sum;
  };
  whenever([&] {
    for (const int64_t start : times) {
      for (const int64_t end : times) {
        const TimeRange range{start, end};
        ASSERT_EQ(select("{}", range).total, sum_of(range, 1)) << start << " to " << end;
        ASSERT_EQ(select(R"({pod="a"})", range).total, sum_of(range, 2)) << start << " to " << end;
      }
    }
    EXPECT_EQ(select("{}", {times.front(), INT64_MAX}).total, sum_of(kAllTime, 1));
    EXPECT_EQ(select("{}", {INT64_MIN, times.back()}).total, sum_of({INT64_MIN, times.back()}, 1));
    EXPECT_EQ(select("{}", {INT64_MAX, INT64_MIN}).total, 0);
    EXPECT_EQ(select("{}", {INT64_MAX, INT64_MAX}).profiles, 0U);
  });
}

TEST_P(EngineSuite, TimesMayBeFarOff) {
  const std::vector<int64_t> times = {
      1, 1'000, kDayNs, kStartNs, 4'102'444'800 * kSecondNs, INT64_MAX - 1};
  for (const int64_t time : times) write({cpu("a", time, {{"main", 1}})});
  whenever([&] {
    EXPECT_EQ(select().total, static_cast<int64_t>(times.size()));
    for (const int64_t time : times) {
      EXPECT_EQ(select("{}", {time, time + 1}).total, 1) << time;
      EXPECT_THAT(series("{}", {time, time + 1}), testing::SizeIs(1)) << time;
    }
    EXPECT_EQ(select("{}", {2, 1'000}).total, 0);
  });
}

TEST_P(EngineSuite, OneSelectionForEachCombinationOfLabels) {
  write({{.labels = {{"service_name", "web"}, {"pod", "a"}, {"zone", "eu"}}, .samples = {{"m", 1}}},
         {.labels = {{"service_name", "web"}, {"pod", "b"}, {"zone", "eu"}}, .samples = {{"m", 2}}},
         {.labels = {{"service_name", "api"}, {"pod", "a"}, {"zone", "us"}}, .samples = {{"m", 4}}},
         {.labels = {{"service_name", "api"}, {"pod", "c"}}, .samples = {{"m", 8}}}});
  const auto grouped = [&](std::vector<std::string> names) {
    SelectRequest grouped_request = request();
    grouped_request.group_by = std::move(names);
    std::map<std::string, int64_t> totals;
    for (const Selection& selection : select_all(grouped_request))
      totals[text_of(selection.group)] += selection.total;
    return totals;
  };
  whenever([&] {
    EXPECT_EQ(grouped({"zone"}),
              (Weights{{"{}", 8}, {R"({zone="eu"})", 3}, {R"({zone="us"})", 4}}));
    EXPECT_EQ(grouped({"service_name"}),
              (Weights{{R"({service_name="api"})", 12}, {R"({service_name="web"})", 3}}));
    EXPECT_EQ(grouped({"zone", "service_name"}),
              (Weights{{R"({service_name="api"})", 8},
                       {R"({service_name="api", zone="us"})", 4},
                       {R"({service_name="web", zone="eu"})", 3}}));
    EXPECT_EQ(grouped({"nothing"}), (Weights{{"{}", 15}}));
    EXPECT_EQ(grouped({"__type__"}), (Weights{{R"({__type__="cpu"})", 15}}));
  });
}

TEST_P(EngineSuite, GaugesAreAveragedOverTimeAndAddedUpOverSeries) {
  for (const int64_t i : {0, 1, 2, 3})
    write({heap("a", kStartNs + i * kHourNs, {{"main;x", 100 + 10 * i}, {"main;y", 40 * i}})});
  write({heap("b", kStartNs, {{"main;x", 1000}})});
  whenever([&] {
    const Selection all = select("{}", kAllTime, kHeapType);
    EXPECT_EQ(weights_of(all), (Weights{{"web|main;x", 1115}, {"web|main;y", 60}}));
    EXPECT_EQ(all.total, 1175);
    EXPECT_EQ(all.profiles, 5U);
    const Selection two = select("{}", {kStartNs, kStartNs + 2 * kHourNs}, kHeapType);
    EXPECT_EQ(weights_of(two), (Weights{{"web|main;x", 1105}, {"web|main;y", 20}}));
  });
}

TEST_P(EngineSuite, AnEmptyGaugeLowersTheAverage) {
  write({heap("a", kStartNs, {{"main", 100}})});
  const WriteReceipt receipt = write({heap("a", kStartNs + kMinuteNs, {})});
  EXPECT_EQ(receipt.profiles, 1U);
  EXPECT_EQ(receipt.samples, 0U);
  whenever([&] {
    const Selection average = select("{}", kAllTime, kHeapType);
    EXPECT_EQ(average.total, 50);
    EXPECT_EQ(average.profiles, 2U);
  });
}

TEST_P(EngineSuite, AveragesAreRoundedSoThatTheTotalStaysRight) {
  std::vector<SampleSpec> stacks;
  stacks.reserve(100);
  for (int i = 0; i < 100; ++i) stacks.push_back({"main;f" + std::to_string(i), 1});
  write({heap("a", kStartNs, stacks)});
  write({heap("a", kStartNs + kSecondNs, {})});
  write({heap("a", kStartNs + 2 * kSecondNs, {})});
  whenever([&] {
    const Selection third = select("{}", kAllTime, kHeapType);
    EXPECT_EQ(third.total, 33);  // 100 / 3
    for (const auto& [stack, weight] : weights_of(third)) {
      EXPECT_GE(weight, 0);
      EXPECT_LE(weight, 1);
    }
  });
}

TEST_P(EngineSuite, TotalsAreAddedUpByTheBucketThatProfilesStartIn) {
  write({cpu("a", kStartNs, {{"m", 1}}), cpu("a", kStartNs + 14 * kSecondNs, {{"m", 2}}),
         cpu("b", kStartNs + 15 * kSecondNs, {{"m", 4}, {"m;n", 1}}),
         cpu("b", kStartNs + 60 * kSecondNs, {{"m", 8}}),
         cpu("a", kStartNs + kDayNs, {{"m", 16}})});
  whenever([&] {
    TotalsRequest asked = totals_request(15 * kSecondNs, {kStartNs, kStartNs + kDayNs});
    asked.by_start = true;
    auto answer = totals(asked);
    ASSERT_EQ(answer.size(), 1U);
    EXPECT_THAT(answer[0].group, IsEmpty());
    EXPECT_THAT(answer[0].points,
                ElementsAre(TotalsPoint{kStartNs, 3, 3, 2, 11 * kSecondNs},
                            TotalsPoint{kStartNs + 15 * kSecondNs, 5, 5, 1, 10 * kSecondNs},
                            TotalsPoint{kStartNs + 60 * kSecondNs, 8, 8, 1, 10 * kSecondNs}));
    asked.group_by = {"pod"};
    answer = totals(asked);
    ASSERT_EQ(answer.size(), 2U);
    EXPECT_EQ(label_value(answer[0].group, "pod"), "a");
    EXPECT_THAT(answer[0].points, ElementsAre(TotalsPoint{kStartNs, 3, 3, 2, 11 * kSecondNs}));
    EXPECT_EQ(label_value(answer[1].group, "pod"), "b");
    EXPECT_THAT(answer[1].points,
                ElementsAre(TotalsPoint{kStartNs + 15 * kSecondNs, 5, 5, 1, 10 * kSecondNs},
                            TotalsPoint{kStartNs + 60 * kSecondNs, 8, 8, 1, 10 * kSecondNs}));
    // Buckets start where the range does.
    asked =
        totals_request(kMinuteNs, {kStartNs + 10 * kSecondNs, INT64_MAX}, kCpuType, R"({pod="a"})");
    asked.by_start = true;
    answer = totals(asked);
    ASSERT_EQ(answer.size(), 1U);
    EXPECT_THAT(
        answer[0].points,
        ElementsAre(TotalsPoint{kStartNs + 10 * kSecondNs, 2, 2, 1, 10 * kSecondNs},
                    TotalsPoint{kStartNs + kDayNs - 50 * kSecondNs, 16, 16, 1, 10 * kSecondNs}));
  });
}

TEST_P(EngineSuite, TotalsOfGaugesAreAveragesOfSeriesAddedUp) {
  write({heap("a", kStartNs, {{"m", 100}}), heap("a", kStartNs + kSecondNs, {{"m", 300}}),
         heap("b", kStartNs, {{"m", 1000}}), heap("b", kStartNs + kMinuteNs, {{"m", 10}})});
  whenever([&] {
    const auto answer =
        totals(totals_request(kMinuteNs, {kStartNs, kStartNs + kHourNs}, kHeapType));
    ASSERT_EQ(answer.size(), 1U);
    EXPECT_THAT(answer[0].points,
                ElementsAre(TotalsPoint{kStartNs, 1200, 1400, 3, 11 * kSecondNs},
                            TotalsPoint{kStartNs + kMinuteNs, 10, 10, 1, 10 * kSecondNs}));
  });
}

TEST_P(EngineSuite, TotalsCountOnlyWhatFiltersLeave) {
  write({cpu("a", kStartNs, {{"m", 1}, {"m;n", 2}}), cpu("a", kStartNs + kSecondNs, {{"m", 4}}),
         cpu("b", kStartNs + kMinuteNs, {{"m;n", 8}}), heap("a", kStartNs, {{"m", 100}}),
         heap("a", kStartNs + kSecondNs, {{"m;n", 300}})});
  whenever([&] {
    TotalsRequest asked = totals_request(kMinuteNs, {kStartNs, kStartNs + kHourNs});
    asked.stacks = [](const StackTree& tree) {
      std::vector<uint8_t> counts(tree.stack_count());
      for (size_t stack = 0; stack < counts.size(); ++stack)
        counts[stack] = stack_text(tree, StackNumber(stack)) == "m;n" ? 1 : 0;
      return counts;
    };
    auto answer = totals(asked);
    ASSERT_EQ(answer.size(), 1U);
    EXPECT_THAT(answer[0].points,
                ElementsAre(TotalsPoint{kStartNs, 2, 2, 2, 11 * kSecondNs},
                            TotalsPoint{kStartNs + kMinuteNs, 8, 8, 1, 10 * kSecondNs}));
    // A gauge that had nothing of it once is less on average.
    TotalsRequest gauge = totals_request(kMinuteNs, {kStartNs, kStartNs + kHourNs}, kHeapType);
    gauge.stacks = asked.stacks;
    answer = totals(gauge);
    ASSERT_EQ(answer.size(), 1U);
    EXPECT_THAT(answer[0].points, ElementsAre(TotalsPoint{kStartNs, 150, 300, 2, 11 * kSecondNs}));
    asked.samples.labels = selector_of(R"({thread="nowhere"})");
    answer = totals(asked);
    ASSERT_EQ(answer.size(), 1U);
    EXPECT_EQ(answer[0].points[0], (TotalsPoint{kStartNs, 0, 0, 2, 11 * kSecondNs}));
  });
}

TEST_P(EngineSuite, AStepOfNothingIsRefused) {
  const auto answer = engine().totals(kTenant, totals_request(0, {kStartNs, kStartNs + 1}));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUsage);
}

TEST_P(EngineSuite, NegativeValuesAreKept) {
  write({cpu("a", kStartNs, {{"up", 10}, {"down", -4}}), cpu("b", kStartNs, {{"down", -3}})});
  whenever([&] {
    const Selection sum = select();
    EXPECT_EQ(weights_of(sum), (Weights{{"web|down", -7}, {"web|up", 10}}));
    EXPECT_EQ(sum.total, 3);
    const auto over_time = totals(totals_request(kHourNs, {kStartNs, kStartNs + kHourNs}));
    ASSERT_EQ(over_time.size(), 1U);
    EXPECT_THAT(over_time[0].points, ElementsAre(TotalsPoint{kStartNs, 3, 3, 2, 10 * kSecondNs}));
  });
}

TEST_P(EngineSuite, SumsSaturateInsteadOfWrappingAround) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  for (const int64_t i : {0, 1, 2}) {
    write({cpu("a", kStartNs + i * kHourNs, {{"most", kMost - 5}, {"most;one", 3}})});
    write({{.labels = {{"service_name", "less"}},
            .time_ns = kStartNs + i * kHourNs,
            .samples = {{"least", kLeast + 5}}}});
  }
  whenever([&] {
    EXPECT_EQ(weights_of(select()),
              (Weights{{"less|least", kLeast}, {"web|most", kMost}, {"web|most;one", 9}}));
    EXPECT_EQ(select(R"({service_name="web"})").total, kMost);
    EXPECT_EQ(select(R"({service_name="less"})").total, kLeast);
    EXPECT_EQ(select(R"({service_name="web"})", {kStartNs, kStartNs + 1}).total, kMost - 2);
    const auto over_time = totals(
        totals_request(kDayNs, {kStartNs, kStartNs + kDayNs}, kCpuType, R"({service_name="web"})"));
    ASSERT_EQ(over_time.size(), 1U);
    EXPECT_THAT(over_time[0].points,
                ElementsAre(TotalsPoint{kStartNs, kMost, kMost, 3, 30 * kSecondNs}));
  });
}

TEST_P(EngineSuite, LossesAreAddedUpByReason) {
  ProfileSpec first = cpu("a", kStartNs, {{"m", 1}});
  first.losses = {{"ring full", 3}, {"stack truncated", 1}};
  ProfileSpec second = cpu("b", kStartNs + kHourNs, {{"m", 1}});
  second.losses = {{"ring full", 4}};
  write({first, second});
  whenever([&] {
    std::map<std::string, uint64_t> losses;
    for (const LossCount& loss : select().losses) losses[loss.reason] += loss.count;
    EXPECT_EQ(losses, (std::map<std::string, uint64_t>{{"ring full", 7}, {"stack truncated", 1}}));
  });
}

TEST_P(EngineSuite, ThePeriodIsTheLargest) {
  for (const int64_t i : {0, 1, 2}) {
    ProfileSpec spec = cpu("a", kStartNs + i * kHourNs, {{"m", 1}});
    spec.period = i == 1 ? 50 : 10;
    write({spec});
  }
  whenever([&] {
    EXPECT_EQ(select().period, 50);
    EXPECT_EQ(select("{}", {kStartNs, kStartNs + kHourNs}).period, 10);
  });
}

}  // namespace
}  // namespace vesta::test
