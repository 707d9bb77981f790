// Series, labels and selectors.
#include <gmock/gmock.h>

#include "base/labels.h"
#include "store/stack_tree.h"
#include "store/testing/engine_suite.h"

namespace vesta::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ProfileSpec of(std::map<std::string, std::string> labels, int64_t time_ns = kStartNs) {
  return {.labels = std::move(labels), .time_ns = time_ns, .samples = {{"main", 1}}};
}

TEST_P(EngineSuite, AnEmptyStoreAnswersEverythingWithNothing) {
  whenever([&] {
    EXPECT_THAT(series(), IsEmpty());
    EXPECT_THAT(names(), IsEmpty());
    EXPECT_THAT(values("service_name"), IsEmpty());
    const Selection nothing = select();
    EXPECT_EQ(nothing.type, type_of(kCpuType));
    EXPECT_THAT(nothing.services, IsEmpty());
    EXPECT_EQ(nothing.total, 0);
    EXPECT_EQ(nothing.profiles, 0U);
    SelectRequest grouped = request();
    grouped.group_by = {"pod"};
    EXPECT_THAT(select_all(grouped), IsEmpty());
    EXPECT_THAT(totals(totals_request(kSecondNs, {0, kHourNs})), IsEmpty());
    EXPECT_THAT(points(points_request()), IsEmpty());
    EXPECT_THAT(samples(samples_request()).profiles, IsEmpty());
    EXPECT_EQ(remove("{}"), 0U);
    EXPECT_EQ(engine().stats().series, 0U);
    EXPECT_EQ(engine().stats().oldest_ns, 0);
    EXPECT_EQ(engine().tenant_stats(kTenant).series, 0U);
    EXPECT_TRUE(engine().apply_retention(kStartNs));
    EXPECT_TRUE(engine().flush());
  });
}

TEST_P(EngineSuite, ASeriesHasTheLabelsOfItsResourceAndItsType) {
  write({of({{"service_name", "web"}, {"pod", "a"}})});
  whenever([&] {
    const auto found = engine().series(kTenant, {}, kAllTime);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->size(), 1U);
    EXPECT_EQ(found->front().labels, (Labels{{"__name__", "process_cpu"},
                                             {"__period_type__", "cpu"},
                                             {"__period_unit__", "nanoseconds"},
                                             {"__profile_type__", std::string(kCpuType)},
                                             {"__service_name__", "web"},
                                             {"__type__", "cpu"},
                                             {"__unit__", "nanoseconds"},
                                             {"pod", "a"},
                                             {"service_name", "web"}}));
    EXPECT_EQ(found->front().first_ns, kStartNs);
    EXPECT_EQ(found->front().last_ns, kStartNs);
  });
}

TEST_P(EngineSuite, AProfileWithoutServiceIsOfAnUnknownOne) {
  write({of({{"pod", "a"}}), of({{"pod", "b"}, {"service_name", ""}})});
  whenever([&] {
    EXPECT_THAT(values("service_name"), ElementsAre("unknown_service"));
    EXPECT_THAT(values("__service_name__"), ElementsAre("unknown_service"));
    EXPECT_EQ(weights_of(select()), (std::map<std::string, int64_t>{{"unknown_service|main", 2}}));
  });
}

TEST_P(EngineSuite, LabelsThatTheStoreMakesCannotBeSent) {
  write({of({{"service_name", "web"}, {"__name__", "mine"}, {"__profile_type__", "mine"}})});
  whenever([&] {
    EXPECT_THAT(values("__name__"), ElementsAre("process_cpu"));
    EXPECT_THAT(values("__profile_type__"), ElementsAre(kCpuType));
  });
}

TEST_P(EngineSuite, OneSeriesForEachSampleType) {
  ProfileBatch batch = batch_of({of({{"service_name", "web"}})});
  Profile& profile = batch.profiles.front();
  profile.sample_types.push_back({batch.dictionary.strings.intern("samples"),
                                  batch.dictionary.strings.intern("count"),
                                  Temporality::kCumulative});
  profile.samples.values = {10'000'000, 1};
  const WriteReceipt receipt = write(batch);
  EXPECT_EQ(receipt.profiles, 2U);
  EXPECT_EQ(receipt.samples, 2U);
  EXPECT_EQ(receipt.new_series, 2U);
  EXPECT_EQ(receipt.new_stacks, 1U);
  whenever([&] {
    EXPECT_THAT(values("__profile_type__"),
                ElementsAre(kCpuType, "process_cpu:samples:count:cpu:nanoseconds"));
    EXPECT_EQ(select().total, 10'000'000);
    EXPECT_EQ(select("{}", kAllTime, "process_cpu:samples:count:cpu:nanoseconds").total, 1);
    EXPECT_EQ(select("{}", kAllTime, "process_cpu:samples:count:cpu:seconds").total, 0);
  });
}

TEST_P(EngineSuite, SelectorsHaveTheFourOperatorsOfPrometheus) {
  write({of({{"service_name", "web"}, {"pod", "a1"}}), of({{"service_name", "web"}, {"pod", "a2"}}),
         of({{"service_name", "api"}, {"pod", "b1"}}), of({{"service_name", "api"}})});
  const std::string api = "{service_name=\"api\"}";
  const std::string b1 = "{pod=\"b1\", service_name=\"api\"}";
  const std::string a1 = "{pod=\"a1\", service_name=\"web\"}";
  const std::string a2 = "{pod=\"a2\", service_name=\"web\"}";
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"{}", {a1, a2, b1, api}},
      {R"({pod="a1"})", {a1}},
      {R"({pod!="a1"})", {a2, b1, api}},
      {R"({pod=~"a.*"})", {a1, a2}},
      {R"({pod=~"a"})", {}},  // the whole value must match
      {R"({pod!~"a.*"})", {b1, api}},
      {R"({pod=""})", {api}},
      {R"({pod!=""})", {a1, a2, b1}},
      {R"({pod=~".*"})", {a1, a2, b1, api}},
      {R"({pod=~".+"})", {a1, a2, b1}},
      {R"({pod!~".+"})", {api}},
      {R"({pod=~"|a1"})", {a1, api}},
      {R"({nothing=""})", {a1, a2, b1, api}},
      {R"({nothing="x"})", {}},
      {R"({nothing!="x"})", {a1, a2, b1, api}},
      {R"({service_name="web", pod!="a1"})", {a2}},
      {R"({service_name="web", service_name="api"})", {}},
      {R"({service_name=~"web|api", pod=~".1"})", {a1, b1}},
      {R"({__type__="cpu", pod="b1"})", {b1}},
      {R"({__service_name__="api"})", {b1, api}},
      {R"({__profile_type__="process_cpu:cpu:nanoseconds:cpu:nanoseconds", pod="b1"})", {b1}},
      {R"({__unit__!="nanoseconds"})", {}},
  };
  whenever([&] {
    for (const auto& [selector, expected] : cases) {
      SCOPED_TRACE(selector);
      EXPECT_THAT(series(selector), testing::UnorderedElementsAreArray(expected));
      EXPECT_EQ(select(selector).profiles, expected.size());
    }
  });
}

TEST_P(EngineSuite, ListsLabelNamesAndValuesOfMatchingSeriesInOrder) {
  write({of({{"service_name", "web"}, {"pod", "b"}}), of({{"service_name", "web"}, {"pod", "a"}}),
         of({{"service_name", "api"}, {"zone", "eu"}})});
  whenever([&] {
    EXPECT_THAT(names(), ElementsAre("__name__", "__period_type__", "__period_unit__",
                                     "__profile_type__", "__service_name__", "__type__", "__unit__",
                                     "pod", "service_name", "zone"));
    EXPECT_THAT(names(R"({service_name="api"})"),
                ElementsAre("__name__", "__period_type__", "__period_unit__", "__profile_type__",
                            "__service_name__", "__type__", "__unit__", "service_name", "zone"));
    EXPECT_THAT(values("pod"), ElementsAre("a", "b"));
    EXPECT_THAT(values("pod", R"({service_name="api"})"), IsEmpty());
    EXPECT_THAT(values("service_name", R"({pod="a"})"), ElementsAre("web"));
    EXPECT_THAT(values("nothing"), IsEmpty());
  });
}

TEST_P(EngineSuite, BoundsValuesByPrefixAndLimit) {
  for (const char* pod : {"a1", "a2", "a3", "b1", "\xff\xff"})
    write({of({{"service_name", "web"}, {"pod", pod}})});
  whenever([&] {
    EXPECT_THAT(values("pod", "{}", kAllTime, "a"), ElementsAre("a1", "a2", "a3"));
    EXPECT_THAT(values("pod", "{}", kAllTime, "a", 2), ElementsAre("a1", "a2"));
    EXPECT_THAT(values("pod", "{}", kAllTime, "", 4), ElementsAre("a1", "a2", "a3", "b1"));
    EXPECT_THAT(values("pod", "{}", kAllTime, "\xff"), ElementsAre("\xff\xff"));
    EXPECT_THAT(values("pod", "{}", kAllTime, "c"), IsEmpty());
    EXPECT_THAT(values("pod", R"({pod=~".1"})", kAllTime, "a"), ElementsAre("a1"));
  });
}

TEST_P(EngineSuite, ListsSeriesByTimeGiveOrTakeAnHour) {
  write({of({{"service_name", "early"}}, kStartNs),
         of({{"service_name", "late"}}, kStartNs + 10 * kHourNs)});
  const std::string early = "{service_name=\"early\"}";
  const std::string late = "{service_name=\"late\"}";
  whenever([&] {
    EXPECT_THAT(series("{}", {kStartNs, kStartNs + 1}), ElementsAre(early));
    EXPECT_THAT(series("{}", {kStartNs + 3 * kHourNs, kStartNs + 7 * kHourNs}), IsEmpty());
    EXPECT_THAT(series("{}", {kStartNs + 9 * kHourNs, kStartNs + 11 * kHourNs}), ElementsAre(late));
    EXPECT_THAT(series("{}", {kStartNs, kStartNs + 11 * kHourNs}), ElementsAre(early, late));
    EXPECT_THAT(series("{}", {kStartNs, kStartNs}), IsEmpty());
    EXPECT_THAT(series("{}", {kStartNs + kHourNs, kStartNs}), IsEmpty());
    EXPECT_THAT(values("service_name", "{}", {kStartNs + 9 * kHourNs, INT64_MAX}),
                ElementsAre("late"));
    EXPECT_THAT(names("{}", {kStartNs + 3 * kHourNs, kStartNs + 7 * kHourNs}), IsEmpty());
  });
}

TEST_P(EngineSuite, ASeriesKnowsItsFirstAndLastProfile) {
  for (const int64_t hour : {30, 0, 55, 7})
    write({of({{"service_name", "web"}}, kStartNs + hour * kHourNs)});
  whenever([&] {
    const auto found = engine().series(kTenant, {}, kAllTime);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->size(), 1U);
    EXPECT_EQ(found->front().first_ns, kStartNs);
    EXPECT_EQ(found->front().last_ns, kStartNs + 55 * kHourNs);
    EXPECT_EQ(engine().stats().oldest_ns, kStartNs);
    EXPECT_EQ(engine().stats().newest_ns, kStartNs + 55 * kHourNs);
  });
}

TEST_P(EngineSuite, TenantsDoNotSeeEachOther) {
  write(batch_of({of({{"service_name", "web"}, {"secret", "a"}})}), "a");
  write(batch_of({of({{"service_name", "web"}, {"pod", "b"}}, kStartNs + kHourNs)}), "b");
  whenever([&] {
    EXPECT_THAT(series("{}", kAllTime, "a"), ElementsAre(R"({secret="a", service_name="web"})"));
    EXPECT_THAT(series("{}", kAllTime, "b"), ElementsAre(R"({pod="b", service_name="web"})"));
    EXPECT_THAT(series("{}", kAllTime, ""), IsEmpty());
    EXPECT_THAT(series("{}", kAllTime, "ab"), IsEmpty());
    EXPECT_EQ(select(request(), "a").total, 1);
    EXPECT_EQ(select(request(), "b").first_ns, kStartNs + kHourNs);
    EXPECT_EQ(select(request(), "c").total, 0);
    EXPECT_EQ(engine().tenant_stats("a").series, 1U);
    EXPECT_EQ(engine().tenant_stats("b").oldest_ns, kStartNs + kHourNs);
    EXPECT_EQ(engine().tenant_stats("c").series, 0U);
    EXPECT_EQ(engine().stats().series, 2U);
  });
  ASSERT_TRUE(engine().remove("a", {}, kAllTime));
  whenever([&] {
    EXPECT_EQ(select(request(), "a").total, 0);
    EXPECT_EQ(select(request(), "b").total, 1);
  });
}

TEST_P(EngineSuite, TenantsHaveStacksOfTheirOwn) {
  write(batch_of({{.labels = {{"service_name", "web"}}, .samples = {{"main;secret", 1}}}}), "a");
  write(batch_of({{.labels = {{"service_name", "web"}}, .samples = {{"main;open", 1}}}}), "b");
  whenever([&] {
    const Selection of_b = select(request(), "b");
    ASSERT_EQ(of_b.services.size(), 1U);
    const StackTree& tree = of_b.services.front().tree;
    for (const TreeString string : Ids<TreeString>(0, tree.string_count()))
      EXPECT_NE(tree.string(string), "secret");
  });
}

}  // namespace
}  // namespace vesta::test
