// Labels of samples as if they were labels of series: what they are, selecting and grouping by
// them.
#include <gmock/gmock.h>

#include "base/labels.h"
#include "store/testing/engine_suite.h"

namespace vesta::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Weights = std::map<std::string, int64_t>;

// `web` has threads on its samples; `db` has them on its series in one place, on samples in
// another.
std::vector<ProfileSpec> threads() {
  return {{.labels = {{"service_name", "web"}},
           .time_ns = kStartNs,
           .samples = {{"main;a", 1, {{"thread", "t1"}, {"span_name", "GET"}}, {{"pid", 7}}},
                       {"main;a", 2, {{"thread", "t2"}}, {{"bytes", 64}}},
                       {"main;b", 4}}},
          {.labels = {{"service_name", "web"}},
           .time_ns = kStartNs + kSecondNs,
           .samples = {{"main;b", 8, {{"thread", "t1"}}}}},
          {.labels = {{"service_name", "db"}, {"thread", "t1"}},
           .time_ns = kStartNs,
           .samples = {{"main;c", 16, {{"thread", "of the sample"}}}, {"main;d", 32}}},
          {.labels = {{"service_name", "db"}, {"thread", "t3"}},
           .time_ns = kStartNs,
           .samples = {{"main;c", 64}}},
          {.labels = {{"service_name", "db"}},
           .time_ns = kStartNs,
           .samples = {{"main;c", 128, {{"thread", "t1"}}}}},
          {.labels = {{"service_name", "plain"}}, .time_ns = kStartNs, .samples = {{"main", 256}}}};
}

TEST_P(EngineSuite, SamplesAndSeriesAreSelectedAlike) {
  write(threads());
  const auto by = [&](std::string_view either, std::string_view series = "{}") {
    SelectRequest asked = request(kCpuType, series);
    asked.samples.either = selector_of(either);
    return weights_of(select(asked));
  };
  whenever([&] {
    EXPECT_EQ(
        by(R"({thread="t1"})"),
        (Weights{{"web|main;a", 1}, {"web|main;b", 8}, {"db|main;c", 144}, {"db|main;d", 32}}));
    EXPECT_EQ(by(R"({thread="t1", span_name="GET"})"), (Weights{{"web|main;a", 1}}));
    EXPECT_EQ(by(R"({thread="of the sample"})"), Weights{}) << "the label of the series wins";
    EXPECT_EQ(by(R"({thread=""})", R"({service_name!="db"})"),
              (Weights{{"web|main;b", 4}, {"plain|main", 256}}));
    EXPECT_EQ(by(R"({pid="7"})"), (Weights{{"web|main;a", 1}}));
    SelectRequest asked = request(kCpuType, R"({service_name="db"})");
    asked.samples.either = selector_of(R"({thread="t3"})");
    EXPECT_EQ(select(asked).profiles, 2U) << "one that matches, and one whose samples might have";
    SamplesRequest exported = samples_request(kCpuType, R"({service_name="db"})");
    exported.select.samples.either = selector_of(R"({thread="t1"})");
    int64_t total = 0;
    for (const Profile& profile : samples(exported).profiles) total += total_of(profile, 0);
    EXPECT_EQ(total, 176);
  });
}

TEST_P(EngineSuite, TotalsAreGroupedByLabelsOfSamples) {
  write(threads());
  whenever([&] {
    TotalsRequest asked = totals_request(kMinuteNs, {kStartNs, kStartNs + kHourNs});
    asked.group_by = {"thread"};
    asked.group_samples = true;
    std::vector<std::string> answer;
    for (const TotalsSeries& series : totals(asked)) {
      ASSERT_EQ(series.points.size(), 1U);
      answer.push_back(text_of(series.group) + " " + std::to_string(series.points[0].value) +
                       " of " + std::to_string(series.points[0].profiles));
    }
    EXPECT_THAT(answer, ElementsAre("{} 260 of 3", "{thread=\"t1\"} 185 of 4",
                                    "{thread=\"t2\"} 2 of 2", "{thread=\"t3\"} 64 of 1"));
    asked.group_by = {"service_name", "thread"};
    asked.selector = selector_of(R"({service_name="web"})");
    asked.samples.either = selector_of(R"({thread="t1"})");
    const auto one = totals(asked);
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(text_of(one[0].group), R"({service_name="web", thread="t1"})");
    EXPECT_EQ(one[0].points[0].value, 9);
  });
}

TEST_P(EngineSuite, AGaugeOfAThreadIsAveragedOverAllProfilesOfTheSeries) {
  write({{.type = std::string(kHeapType),
          .labels = {{"service_name", "web"}},
          .time_ns = kStartNs,
          .samples = {{"m", 100, {{"thread", "t1"}}}, {"m", 10, {{"thread", "t2"}}}}},
         {.type = std::string(kHeapType),
          .labels = {{"service_name", "web"}},
          .time_ns = kStartNs + kSecondNs,
          .samples = {{"m", 30, {{"thread", "t2"}}}}}});
  whenever([&] {
    TotalsRequest asked = totals_request(kMinuteNs, {kStartNs, kStartNs + kHourNs}, kHeapType);
    asked.group_by = {"thread"};
    asked.group_samples = true;
    const auto answer = totals(asked);
    ASSERT_EQ(answer.size(), 2U);
    EXPECT_THAT(answer[0].points, ElementsAre(TotalsPoint{kStartNs, 50, 100, 2, 11 * kSecondNs}));
    EXPECT_THAT(answer[1].points, ElementsAre(TotalsPoint{kStartNs, 20, 40, 2, 11 * kSecondNs}));
  });
}

TEST_P(EngineSuite, PointsCountWhatFiltersLeave) {
  write(threads());
  whenever([&] {
    PointsRequest asked = points_request(kCpuType, R"({service_name="web"})");
    asked.samples.either = selector_of(R"({span_name="GET"})");
    const auto answer = points(asked);
    ASSERT_EQ(answer.size(), 1U);
    EXPECT_EQ(answer[0].value, 1);
  });
}

TEST_P(EngineSuite, ListsLabelsOfSamplesByService) {
  write(threads());
  const auto listed = [&](std::string_view selector, TimeRange range = kAllTime) {
    auto found = engine().sample_label_names(kTenant, selector_of(selector), range);
    EXPECT_TRUE(found);
    return found ? *found : std::vector<std::string>();
  };
  const auto sets = [&](std::vector<std::string> wanted, std::string_view selector = "{}",
                        std::string_view filter = "{}") {
    SampleLabelsRequest asked;
    asked.selector = selector_of(selector);
    asked.samples = selector_of(filter);
    asked.range = kAllTime;
    asked.names = std::move(wanted);
    std::vector<std::string> lines;
    const auto found = engine().sample_label_sets(kTenant, asked);
    EXPECT_TRUE(found);
    if (!found) return lines;
    for (const SampleLabelSets& service : *found)
      for (const Labels& set : service.sets) lines.push_back(service.service + text_of(set));
    return lines;
  };
  whenever([&] {
    EXPECT_THAT(listed("{}"), ElementsAre("pid", "span_name", "thread"))
        << "bytes are measured, they name nothing";
    EXPECT_THAT(listed(R"({service_name="db"})"), ElementsAre("thread"));
    EXPECT_THAT(listed(R"({service_name="plain"})"), IsEmpty());
    EXPECT_THAT(listed("{}", {0, kHourNs}), IsEmpty());
    EXPECT_THAT(sets({"thread"}), ElementsAre("db{thread=\"of the sample\"}", "db{thread=\"t1\"}",
                                              "web{thread=\"t1\"}", "web{thread=\"t2\"}"));
    EXPECT_THAT(sets({"pid", "span_name"}, "{}", R"({thread="t1"})"),
                ElementsAre(R"(web{pid="7", span_name="GET"})"));
    EXPECT_THAT(sets({"bytes"}), IsEmpty());
    SampleLabelsRequest many;
    many.range = kAllTime;
    many.names = {"thread"};
    many.limit = 1;
    const auto refused = engine().sample_label_sets(kTenant, many);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
  });
  // Names that come later are found, too.
  write({{.labels = {{"service_name", "web"}},
          .time_ns = kStartNs + kMinuteNs,
          .samples = {{"main;a", 1, {{"region", "x"}}}}}});
  EXPECT_THAT(listed("{}"), ElementsAre("pid", "region", "span_name", "thread"));
}

}  // namespace
}  // namespace vesta::test
