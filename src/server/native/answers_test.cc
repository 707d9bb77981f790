// What answers rest on: time that is covered, samples, and comparisons that hold though one side
// ran longer or on more pods.
#include <gmock/gmock.h>

#include <simdjson.h>

#include <set>

#include "base/time.h"
#include "server/native/test_call.h"

namespace vesta::server {
namespace {

using test::kNow;
using test::TestApi;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// An answer, taken apart.
class Answer {
 public:
  explicit Answer(const std::string& text) : parsed_(parser_.parse(text)) {}
  simdjson::dom::element operator[](std::string_view pointer) const {
    return parsed_.at_pointer(pointer).value();
  }
  double number(std::string_view pointer) const { return (*this)[pointer].get_double().value(); }
  std::string text(std::string_view pointer) const {
    return std::string((*this)[pointer].get_string().value());
  }
  std::vector<double> numbers(std::string_view pointer) const {
    std::vector<double> out;
    const simdjson::dom::array items = (*this)[pointer].get_array().value();
    for (const auto item : items) out.push_back(item.get_double().value());
    return out;
  }
  std::vector<std::string> warnings(const std::string& under = "") const {
    std::vector<std::string> codes;
    const simdjson::dom::array items = (*this)[under + "/warnings"].get_array().value();
    for (const auto item : items) codes.emplace_back(item["code"].get_string().value());
    return codes;
  }

 private:
  simdjson::dom::parser parser_;
  simdjson::dom::element parsed_;
};

// Two cores busy, in profiles of a minute, from so many minutes ago on.
void write_two_cores(const TestApi& api, int64_t minutes) {
  for (int64_t minute = minutes; minute > 0; --minute) {
    api.write_window({.service = "shop",
                      .pod = "shop-1",
                      .time_ns = kNow - minute * kMinute,
                      .duration_ns = kMinute,
                      .samples = 12'000});
  }
}

TEST(Answers, ProfilesOfAMinuteAreTwoCoresInEveryTenSeconds) {
  TestApi api;
  write_two_cores(api, 30);
  for (const std::string step : {"10s", "45s", "7m"}) {
    const Answer totals(
        api.json("/api/v1/totals?query=cpu{service_name=\"shop\"}&from=-25m&step=" + step));
    EXPECT_THAT(totals.numbers("/series/0/rates"), Each(testing::DoubleNear(2e9, 1))) << step;
  }
  const Answer totals(
      api.json("/api/v1/totals?query=cpu{service_name=\"shop\"}&from=-1h&step=10s"));
  EXPECT_THAT(totals.numbers("/series/0/values"), SizeIs(180)) << "no bucket without data";
  EXPECT_THAT(totals.numbers("/series/0/covered_ns"), Each(10.0 * kSecond));
}

TEST(Answers, HeatMapsHaveNoStripesAndAddUpToTheChart) {
  TestApi api;
  write_two_cores(api, 30);
  // Four cores beside them, for a minute that fits to no column.
  api.write_window({.service = "shop",
                    .pod = "shop-2",
                    .time_ns = kNow - 10 * kMinute - 7 * kSecond,
                    .duration_ns = kMinute,
                    .samples = 24'000});
  const std::string shop = "?query=cpu{service_name=\"shop\"}";
  const Answer map(api.json("/api/v1/heatmap" + shop + "&from=-25m&step=10s&rows=2"));
  EXPECT_EQ(map.text("/rows_by"), "rate");
  EXPECT_EQ(map.text("/cells_are"), "weight");
  EXPECT_EQ(map.number("/row_start"), 2e9);
  EXPECT_EQ(map.number("/row_size"), 1e9);
  std::set<int64_t> columns;
  const simdjson::dom::array cells = map["/cells"].get_array().value();
  for (const auto cell : cells) {
    const int64_t column = cell.at(0).get_int64().value();
    if (cell.at(1).get_int64().value() != 0) continue;
    columns.insert(column);
    EXPECT_NEAR(cell.at(2).get_double().value(), 20.0 * kSecond, 2) << column;
  }
  EXPECT_THAT(columns, SizeIs(150)) << "every column of the two cores";
  const Answer totals(api.json("/api/v1/totals" + shop + "&from=-25m&step=10s"));
  EXPECT_EQ(map.number("/cell_total") + map.number("/left_out"), totals.number("/series/0/total"));

  // Ten seconds of each: what is drawn is what a flame graph of it shows.
  const std::string region =
      shop + "&from=" + std::to_string((kNow - 10 * kMinute) / kMillisecond) +
      "&to=" + std::to_string((kNow - 10 * kMinute + 10 * kSecond) / kMillisecond);
  const Answer low(api.json("/api/v1/flame" + region + "&rate_min=2e9&rate_max=3e9"));
  EXPECT_EQ(low.number("/total"), 20.0 * kSecond);
  EXPECT_EQ(low.number("/samples"), 2000);
  EXPECT_EQ(low.number("/profiles"), 1);
  EXPECT_EQ(low.number("/covered_ns"), 10.0 * kSecond);
  EXPECT_EQ(low.number("/instances"), 1);
  const Answer high(api.json("/api/v1/flame" + region + "&rate_min=3e9"));
  EXPECT_EQ(high.number("/total"), 40.0 * kSecond);
  const Answer both(api.json("/api/v1/top" + region + "&rate_min=0"));
  EXPECT_EQ(both.number("/total"), 60.0 * kSecond);
  EXPECT_EQ(both.number("/instances"), 2);
}

TEST(Answers, AServerThatIsEightMinutesOldShowsWhatIsUsed) {
  TestApi api;
  write_two_cores(api, 8);
  const Answer services(api.json("/api/v1/services?query={service_name=\"shop\"}&from=-1h"));
  EXPECT_NEAR(services.number("/rows/0/rate"), 2e9, 1);
  EXPECT_EQ(services.number("/rows/0/covered_ns"), 8.0 * kMinute);
  EXPECT_EQ(services.number("/rows/0/previous_covered_ns"), 0);
  EXPECT_TRUE(services["/rows/0/previous_total"].is_null());
  const Answer flame(api.json("/api/v1/flame?query=cpu{service_name=\"shop\"}&from=-1h"));
  EXPECT_EQ(flame.number("/covered_ns"), 8.0 * kMinute);
  EXPECT_EQ(flame.number("/instances"), 1);
  EXPECT_EQ(flame.number("/samples"), 96'000);
  EXPECT_THAT(flame.warnings(), SizeIs(0));
}

TEST(Answers, WarnWhenTheyRestOnFewSamples) {
  TestApi api;
  api.write_window({.service = "shop",
                    .pod = "",
                    .time_ns = kNow - kMinute,
                    .duration_ns = kMinute,
                    .samples = 12});
  for (const std::string route : {"flame", "top", "tree", "coverage"}) {
    const Answer answer(api.json("/api/v1/" + route + "?query=cpu{service_name=\"shop\"}"));
    EXPECT_EQ(answer.number("/samples"), 12) << route;
    EXPECT_THAT(answer.warnings(), ElementsAre("few_samples")) << route;
    EXPECT_EQ(answer.text("/warnings/0/text"),
              "based on 12 samples; shares are uncertain below 100");
  }
  const Answer heap(api.json("/api/v1/top?query=inuse{}"));
  EXPECT_TRUE(heap["/samples"].is_null());
  EXPECT_THAT(heap.warnings(), SizeIs(0));
}

// Version 2.4.0 ran on three pods for 23 minutes, then 2.5.0, which needs 28 % more, for 34.
void write_deploy(const TestApi& api) {
  for (const std::string pod : {"a", "b", "c"}) {
    for (int64_t minute = 57; minute > 34; --minute)
      api.write_window({"v24", pod, kNow - minute * kMinute, kMinute, 1000});
    for (int64_t minute = 34; minute > 0; --minute)
      api.write_window({"v25", pod, kNow - minute * kMinute, kMinute, 1280});
  }
}

TEST(Answers, ComparisonsAreByRateAndInstance) {
  TestApi api;
  write_deploy(api);
  for (const std::string route : {"diff", "diff/flame"}) {
    const std::string url = "/api/v1/" + route +
                            "?from=-1h&query=cpu{service_name=\"v25\"}"
                            "&baseline_query=cpu{service_name=\"v24\"}";
    const Answer rate(api.json(url));
    EXPECT_EQ(rate.text("/scale"), "rate");
    EXPECT_NEAR(rate.number("/baseline_factor"), 34.0 / 23, 1e-9);
    EXPECT_NEAR(rate.number("/total_after") / rate.number("/total_before"), 1.28, 1e-6);
    EXPECT_NEAR(rate.number("/total_before_raw"), 69e3 * 1e7, 1);
    EXPECT_THAT(rate.warnings(), ElementsAre("coverage_differs"));
    EXPECT_THAT(rate.text("/warnings/0/text"), HasSubstr("× 3.0 instances"));
    const std::string baseline = route == "diff" ? "/baseline" : "/baseline_answer";
    EXPECT_EQ(rate.number(baseline + "/covered_ns"), 23.0 * kMinute);
    EXPECT_EQ(rate.number(baseline + "/instances"), 3);
    EXPECT_EQ(rate.number(baseline + "/samples"), 69'000);
    const Answer totals(api.json(url + "&scale=absolute"));
    EXPECT_EQ(totals.text("/scale"), "absolute");
    EXPECT_NEAR(totals.number("/total_after") / totals.number("/total_before"), 1.892, 0.001);
    EXPECT_THAT(totals.warnings(), ElementsAre("coverage_differs"));
    const Answer shares(api.json(url + "&scale=normalized"));
    EXPECT_EQ(shares.number("/total_after"), shares.number("/total_before"));
  }
  const Answer diff(
      api.json("/api/v1/diff?from=-1h&query=cpu{service_name=\"v25\"}"
               "&baseline_query=cpu{service_name=\"v24\"}"));
  EXPECT_TRUE(diff["/rows/0/significant"].get_bool().value())
      << "28 % more of everything is a change, though no share has changed";
}

TEST(Answers, TheSameInMoreTimeIsNoChange) {
  TestApi api;
  for (int64_t minute = 0; minute < 30; ++minute)
    api.write_window({"long", "a", kNow - (30 - minute) * kMinute, kMinute, 1000});
  for (int64_t minute = 0; minute < 5; ++minute)
    api.write_window({"short", "a", kNow - (30 - minute) * kMinute, kMinute, 1000});
  const Answer diff(
      api.json("/api/v1/diff?query=cpu{service_name=\"long\"}"
               "&baseline_query=cpu{service_name=\"short\"}"));
  EXPECT_EQ(diff.number("/total_delta"), 0);
  EXPECT_FALSE(diff["/rows/0/significant"].get_bool().value());
}

TEST(Answers, TotalsAreComparedWhereDurationsAreNotKnown) {
  TestApi api;
  api.write_window({"old", "a", kNow - 10 * kMinute, 0, 1000});
  api.write_window({"new", "a", kNow - 10 * kMinute, kMinute, 2000});
  const Answer diff(
      api.json("/api/v1/diff?query=cpu{service_name=\"new\"}"
               "&baseline_query=cpu{service_name=\"old\"}"));
  EXPECT_EQ(diff.text("/scale"), "absolute");
  EXPECT_EQ(diff.number("/baseline_factor"), 1);
  EXPECT_THAT(diff.warnings(), ElementsAre("duration_unknown"));
  EXPECT_TRUE(diff["/baseline/instances"].is_null());
}

TEST(Answers, ChosenProfilesCoverTheirOwnTime) {
  TestApi api;
  write_two_cores(api, 5);
  api.write_window({"shop", "shop-1", kNow - 20 * kMinute, kMinute, 5});
  const Answer some(
      api.json("/api/v1/flame?query=cpu{service_name=\"shop\"}&from=-1h&value_min=1000000000"));
  EXPECT_EQ(some.number("/covered_ns"), 5.0 * kMinute);
}

}  // namespace
}  // namespace vesta::server
