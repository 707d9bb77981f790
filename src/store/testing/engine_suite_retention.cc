// What goes away: deletes, retention, and what backups keep.
#include <gmock/gmock.h>

#include <cstdlib>

#include "base/clock.h"
#include "store/testing/engine_suite.h"
#include "testing/temporary_folder.h"

namespace vesta::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Weights = std::map<std::string, int64_t>;

ProfileSpec of(std::string service, int64_t time_ns, int64_t value = 1, std::string pod = "a") {
  return {.labels = {{"service_name", std::move(service)}, {"pod", std::move(pod)}},
          .time_ns = time_ns,
          .samples = {{"m", value}}};
}

// A rule under which, at `now`, the oldest kept profile starts at `from`.
RetentionRule keep_from(std::string service, int64_t from_ns, int64_t now_ns) {
  return {std::move(service), now_ns - from_ns};
}

TEST_P(EngineSuite, ListsTenantsThatHaveAnything) {
  EXPECT_THAT(engine().tenants(), IsEmpty());
  write(batch_of({of("web", kStartNs)}), "beta");
  write(batch_of({of("web", kStartNs)}), "alpha");
  ASSERT_TRUE(engine().set_retention("gamma", {}));
  select(request(), "nobody");
  whenever([&] { EXPECT_THAT(engine().tenants(), ElementsAre("alpha", "beta", "gamma")); });
}

TEST_P(EngineSuite, DeletesMatchingSeriesInARange) {
  for (int64_t hour = 0; hour < 30; ++hour) {
    write({of("web", kStartNs + hour * kHourNs, 1, "a"),
           of("web", kStartNs + hour * kHourNs, 1, "b"),
           of("api", kStartNs + hour * kHourNs, 1, "a")});
  }
  ASSERT_TRUE(engine().maintain());
  EXPECT_EQ(
      remove(R"({service_name="web", pod="a"})", {kStartNs + 3 * kHourNs, kStartNs + 10 * kHourNs}),
      1U);
  whenever([&] {
    EXPECT_EQ(select(R"({service_name="web"})").total, 53);
    EXPECT_EQ(select(R"({pod="a", service_name="web"})").total, 23);
    EXPECT_EQ(select(R"({pod="b"})").total, 30);
    EXPECT_EQ(select(R"({service_name="api"})").total, 30);
    EXPECT_EQ(
        select(R"({service_name="web"})", {kStartNs + 3 * kHourNs, kStartNs + 10 * kHourNs}).total,
        7);
    EXPECT_EQ(select("{}", {kStartNs, kStartNs + kDayNs}).total, 72 - 7);
    const auto hourly = totals(totals_request(kHourNs, {kStartNs, kStartNs + 30 * kHourNs},
                                              kCpuType, R"({service_name="web"})"));
    ASSERT_EQ(hourly.size(), 1U);
    ASSERT_EQ(hourly[0].points.size(), 30U);
    EXPECT_EQ(hourly[0].points[2].value, 2);
    EXPECT_EQ(hourly[0].points[3].value, 1);
    EXPECT_EQ(hourly[0].points[9].value, 1);
    EXPECT_EQ(hourly[0].points[10].value, 2);
    EXPECT_EQ(points(points_request()).size(), 83U);
  });
}

TEST_P(EngineSuite, DeletesHoldTheirStartAndNotTheirEnd) {
  const std::vector<int64_t> times = {kStartNs - 1,       kStartNs,
                                      kStartNs + 1,       kStartNs + kHourNs - 1,
                                      kStartNs + kHourNs, kStartNs + kHourNs + 1};
  for (const int64_t time : times) write({of("web", time)});
  EXPECT_EQ(remove("{}", {kStartNs, kStartNs + kHourNs}), 1U);
  whenever([&] {
    EXPECT_EQ(select().total, 3);
    EXPECT_EQ(select("{}", {kStartNs - 1, kStartNs}).total, 1);
    EXPECT_EQ(select("{}", {kStartNs + kHourNs, kStartNs + kHourNs + 1}).total, 1);
  });
  EXPECT_EQ(remove("{}", {kStartNs, kStartNs + kHourNs}), 0U) << "nothing is left to lose";
}

TEST_P(EngineSuite, NothingThatWasDeletedIsSeen) {
  write({of("web", kStartNs, 1, "secret-pod"), of("api", kStartNs)});
  ASSERT_TRUE(engine().maintain());
  EXPECT_EQ(remove(R"({service_name="web"})"), 1U);
  whenever([&] {
    EXPECT_THAT(series(), ElementsAre(R"({pod="a", service_name="api"})"));
    EXPECT_THAT(values("pod"), ElementsAre("a"));
    EXPECT_THAT(values("service_name"), ElementsAre("api"));
    EXPECT_EQ(weights_of(select()), (Weights{{"api|m", 1}}));
    EXPECT_EQ(points(points_request()).size(), 1U);
    EXPECT_EQ(samples(samples_request()).profiles.size(), 1U);
    EXPECT_EQ(engine().stats().series, 1U);
  });
  EXPECT_EQ(remove("{}"), 1U);
  whenever([&] {
    EXPECT_THAT(series(), IsEmpty());
    EXPECT_THAT(names(), IsEmpty());
    EXPECT_EQ(engine().stats().oldest_ns, 0);
    EXPECT_EQ(engine().stats().newest_ns, 0);
  });
  write({of("web", kStartNs, 7)});
  whenever([&] { EXPECT_EQ(weights_of(select()), (Weights{{"web|m", 7}})); });
}

// Far more than one step of a deletion takes, with series that stay in between.
TEST_P(EngineSuite, DeletesManySeriesOverManyDays) {
  constexpr int kPods = 300;
  for (int day = 0; day < 3; ++day) {
    for (const int64_t hour : {0, 7, 23}) {
      std::vector<ProfileSpec> specs;
      for (int pod = 0; pod < kPods; ++pod) {
        specs.push_back(of(pod % 3 == 0 ? "api" : "web", kStartNs + day * kDayNs + hour * kHourNs,
                           1, (pod % 2 == 0 ? "even-" : "odd-") + std::to_string(pod)));
      }
      write(specs);
    }
  }
  ASSERT_TRUE(engine().maintain());
  // From the middle of an hour on, to the middle of another: some go as a whole, some do not.
  EXPECT_EQ(remove(R"({pod=~"even-.*"})",
                   {kStartNs + kHourNs / 2, kStartNs + 2 * kDayNs + 7 * kHourNs + 1}),
            kPods / 2U);
  whenever([&] {
    EXPECT_EQ(select(R"({pod=~"odd-.*"})").total, 9 * kPods / 2);
    // The first hour of all, and the last one.
    EXPECT_EQ(select(R"({pod=~"even-.*"})").total, 2 * kPods / 2);
    EXPECT_EQ(select("{}", {kStartNs + kDayNs, kStartNs + 2 * kDayNs}).total, 3 * kPods / 2);
    EXPECT_EQ(select(R"({service_name="api"})", {kStartNs, kStartNs + kDayNs}).total,
              3 * kPods / 6 + kPods / 6);
    EXPECT_EQ(series().size(), size_t{kPods});
  });
  EXPECT_EQ(remove(R"({pod=~"even-.*"})"), kPods / 2U);
  whenever([&] {
    EXPECT_EQ(select().total, 9 * kPods / 2);
    EXPECT_EQ(series().size(), size_t{kPods / 2});
  });
  EXPECT_EQ(remove("{}"), kPods / 2U);
  whenever([&] { EXPECT_THAT(series(), IsEmpty()); });
}

TEST_P(EngineSuite, DeletesByEveryOperator) {
  for (const char* pod : {"a1", "a2", "b1", "b2"}) write({of("web", kStartNs, 1, pod)});
  EXPECT_EQ(remove(R"({pod=~"a.*", pod!="a2"})"), 1U);
  whenever([&] { EXPECT_THAT(values("pod"), ElementsAre("a2", "b1", "b2")); });
  EXPECT_EQ(remove(R"({pod!~"b.*"})"), 1U);
  whenever([&] { EXPECT_THAT(values("pod"), ElementsAre("b1", "b2")); });
}

TEST_P(EngineSuite, RetentionDropsWhatIsTooOld) {
  const int64_t now = unix_now().ns;
  for (int64_t hour = 0; hour < 48; ++hour) write({of("web", kStartNs + hour * kHourNs)});
  // Nothing is too old yet.
  ASSERT_TRUE(engine().set_retention(kTenant, {{keep_from("", kStartNs - kHourNs, now)}, 0}));
  whenever([&] { EXPECT_EQ(select().total, 48); });
  ASSERT_TRUE(engine().apply_retention(now + 31 * kHourNs));  // 30 h after the start
  whenever([&] {
    EXPECT_EQ(select().total, 18);
    EXPECT_EQ(select("{}", {kStartNs, kStartNs + 29 * kHourNs}).total, 0);
    EXPECT_EQ(select("{}", {kStartNs + 30 * kHourNs, kStartNs + kDayNs * 2}).total, 18);
    EXPECT_THAT(points(points_request(kCpuType, "{}", {kStartNs, kStartNs + 29 * kHourNs})),
                IsEmpty());
  });
  ASSERT_TRUE(engine().apply_retention(now + 365 * kDayNs));
  whenever([&] {
    EXPECT_EQ(select().total, 0);
    EXPECT_THAT(series(), IsEmpty());
  });
}

TEST_P(EngineSuite, SettingAPolicyAppliesItNow) {
  write({of("web", kStartNs), of("web", unix_now().ns - kMinuteNs, 10)});
  ASSERT_TRUE(engine().set_retention(kTenant, {{{"", kDayNs}}, 0}));
  whenever([&] { EXPECT_EQ(select().total, 10); });
}

TEST_P(EngineSuite, AServiceMayHaveARuleOfItsOwn) {
  const int64_t now = unix_now().ns;
  for (int64_t hour = 0; hour < 20; ++hour) {
    for (const char* service : {"short", "long", "ever", "other"})
      write({of(service, kStartNs + hour * kHourNs)});
  }
  const RetentionPolicy policy{{keep_from("short", kStartNs + 15 * kHourNs, now + kDayNs),
                                keep_from("", kStartNs + 10 * kHourNs, now + kDayNs),
                                keep_from("long", kStartNs + 5 * kHourNs, now + kDayNs),
                                {"ever", 0}},
                               0};
  ASSERT_TRUE(engine().set_retention(kTenant, policy));
  ASSERT_TRUE(engine().apply_retention(now + kDayNs));
  whenever([&] {
    EXPECT_EQ(weights_of(select()),
              (Weights{{"ever|m", 20}, {"long|m", 15}, {"other|m", 10}, {"short|m", 5}}));
  });
}

TEST_P(EngineSuite, APolicyIsOfOneTenant) {
  const int64_t now = unix_now().ns;
  write(batch_of({of("web", kStartNs)}), "a");
  write(batch_of({of("web", kStartNs)}), "b");
  ASSERT_TRUE(engine().set_retention("a", {{{"", kDayNs}}, 0}));
  ASSERT_TRUE(engine().apply_retention(now));
  whenever([&] {
    EXPECT_EQ(select(request(), "a").total, 0);
    EXPECT_EQ(select(request(), "b").total, 1);
  });
}

TEST_P(EngineSuite, APolicyStaysInForceForLaterWrites) {
  const int64_t now = unix_now().ns;
  ASSERT_TRUE(engine().set_retention(kTenant, {{{"", kDayNs}, {"ever", 0}}, 0}));
  whenever([&] {
    const auto receipt =
        engine().write(kTenant,
                       batch_of({of("web", now - 3 * kDayNs), of("ever", now - 3 * kDayNs),
                                 of("web", now - kHourNs)}),
                       {.durable = true, .now_ns = now, .piece_of = {}});
    ASSERT_TRUE(receipt);
    EXPECT_EQ(receipt->expired, 1U);
    EXPECT_EQ(receipt->profiles + receipt->duplicates, 2U);
    EXPECT_EQ(select().total, 2);
  });
}

TEST_P(EngineSuite, RetentionBySizeDropsTheOldestHours) {
  // Enough to be worth something on a disk, and no two profiles alike.
  std::vector<SampleSpec> stacks;
  for (int64_t hour = 0; hour < 40; ++hour) {
    stacks.clear();
    for (int64_t i = 0; i < 2000; ++i) {
      const uint64_t noise = static_cast<uint64_t>(hour * 2000 + i) * 0x9E3779B97F4A7C15;
      stacks.push_back({"m;f" + std::to_string(i), static_cast<int64_t>(noise >> 34) + 1});
    }
    write({{.labels = {{"service_name", "web"}},
            .time_ns = kStartNs + hour * kHourNs,
            .samples = stacks}});
  }
  ASSERT_TRUE(engine().maintain());
  ASSERT_TRUE(engine().flush());
  const uint64_t before = engine().stats().disk_bytes;
  ASSERT_GT(before, 0U);
  RetentionPolicy policy;
  policy.max_bytes = before * 3 / 4;
  ASSERT_TRUE(engine().set_retention(kTenant, policy));
  whenever([&] {
    const Selection left = select();
    EXPECT_GT(left.profiles, 0U);
    EXPECT_LT(left.profiles, 40U);
    EXPECT_EQ(left.last_ns, kStartNs + 39 * kHourNs) << "the newest stay";
    EXPECT_EQ(left.first_ns, kStartNs + static_cast<int64_t>(40 - left.profiles) * kHourNs)
        << "no gap in what is left";
  });
}

TEST_P(EngineSuite, ABackupHoldsWhatWasWrittenBeforeIt) {
  if (!under_test().abilities().backup) {
    const Status refused = engine().backup("/nowhere");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
    return;
  }
  const TemporaryFolder folder;
  const std::string target = folder.path("copy");
  write({of("web", kStartNs, 5)});
  ASSERT_TRUE(engine().backup(target));
  write({of("web", kStartNs + kHourNs, 7), of("api", kStartNs, 1)});
  const auto total_in = [&](Engine& copy) {
    const auto answer = copy.select(kTenant, request());
    return answer ? answer->front().total : -1;
  };
  {
    const auto copy = under_test().abilities().restore(target);
    ASSERT_NE(copy, nullptr);
    EXPECT_EQ(total_in(*copy), 5);
  }
  ASSERT_TRUE(engine().backup(target)) << "over an earlier one";
  {
    const auto copy = under_test().abilities().restore(target);
    ASSERT_NE(copy, nullptr);
    EXPECT_EQ(total_in(*copy), 13);
  }
  EXPECT_EQ(select().total, 13);
}

}  // namespace
}  // namespace vesta::test
