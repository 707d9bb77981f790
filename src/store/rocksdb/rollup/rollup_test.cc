#include <gtest/gtest.h>

#include <random>

#include "base/hash.h"
#include "base/time.h"
#include "store/rocksdb/rocksdb_engine.h"
#include "store/rocksdb/rollup/rollup_planner.h"
#include "store/rocksdb/rollup/rollup_state.h"
#include "store/testing/stored_profiles.h"
#include "testing/temporary_folder.h"

namespace vesta::rocks {
namespace {

using test::kStartNs;

TEST(RollupStateTest, AnHourIsNotClosedOverAWriteOnItsWay) {
  RollupState state;
  const auto ticket = state.begin({{5, 1, 0, 0}});
  EXPECT_EQ(ticket.early.size(), 1U);
  {
    const MutexLock lock(state.mutex());
    EXPECT_FALSE(state.close(6));
  }
  const auto late = state.begin({{5, 2, 0, 0}});
  EXPECT_EQ(late.late.size(), 1U) << "the boundary is up";
  state.end(ticket);
  const MutexLock lock(state.mutex());
  EXPECT_TRUE(state.close(6)) << "late writes leave marks and need not be waited for";
}

TEST(RollupStateTest, AMarkStaysWhenItsHourWasWrittenToMeanwhile) {
  RollupState state;
  {
    const MutexLock lock(state.mutex());
    state.restore(10, 0);
  }
  state.end(state.begin({{5, 1, 0, 0}}));
  RollupState::Mark mark;
  {
    const MutexLock lock(state.mutex());
    ASSERT_EQ(state.marks_of_first_day().size(), 1U);
    mark = state.marks_of_first_day()[0];
    EXPECT_TRUE(state.is_same(mark));
  }
  const auto ticket = state.begin({{5, 1, 0, 0}});
  {
    const MutexLock lock(state.mutex());
    EXPECT_FALSE(state.is_same(mark));
    EXPECT_TRUE(state.marks_of_first_day().empty()) << "a write is on its way";
  }
  state.end(ticket);
  const MutexLock lock(state.mutex());
  EXPECT_FALSE(state.is_same(mark));
  EXPECT_EQ(state.marks_of_first_day().size(), 1U);
}

// Three days of one series, every hour.
struct Planned {
  SeriesIndex index;
  RollupView view;
  Hour first = hour_of(kStartNs);
  Planned() {
    index.add(0, {{"service_name", "web"}}, 0, 0);
    for (Hour hour = 0; hour < 72; ++hour) index.add_hour(first + hour, 0);
    view.hours_done = first + 60;
    view.days_done = day_of_hour(first + 60);
  }
  std::string series(TimeRange range) const {
    return text(plan_series({index, view, range, true}, {0})[0]);
  }
  std::string service(TimeRange range) const {
    return text(plan_service({index, view, range, true}, 0, 0, index.all()));
  }
  std::string totals(TimeRange range) const {
    return text(plan_series({index, view, range, true, true}, {0})[0]);
  }
  // The kinds of pieces in order; and they must cover the range without gap or overlap.
  static std::string text(const std::vector<Piece>& pieces) {
    std::string out;
    std::optional<int64_t> at;
    for (const Piece& piece : pieces) {
      EXPECT_EQ(piece.range.start_ns, at.value_or(piece.range.start_ns));
      at = piece.range.end_ns;
      const char kinds[] = {'?', 't', 'h', 'h', 'd', 'd', 'H', 'D'};
      const char kind =
          piece.kind == Piece::Kind::kRaw ? 'r' : kinds[static_cast<size_t>(piece.level)];
      if (out.size() > 1 && out.back() == kind && out[out.size() - 2] == kind) continue;
      out += kind;
    }
    return out;
  }
};

TEST(RollupPlannerTest, TakesTheCoarsestBucketsThatFit) {
  Planned p;
  EXPECT_EQ(p.series({kStartNs, kStartNs + kDay}), "d");
  EXPECT_EQ(p.series({kStartNs, kStartNs + 2 * kDay}), "dd");
  EXPECT_EQ(p.series({kStartNs + 1, kStartNs + kDay}), "rhh");
  EXPECT_EQ(p.series({kStartNs - kHour, kStartNs + kHour}), "h");
  EXPECT_EQ(p.series({kStartNs + 5, kStartNs + kHour - 5}), "r");
  EXPECT_EQ(p.series({kStartNs + 2 * kDay, kStartNs + 3 * kDay}), "hhrr") << "not done yet";
  EXPECT_EQ(p.service({kStartNs + 1, kStartNs + kDay}), "rtthh");
  EXPECT_EQ(p.service({kStartNs, kStartNs + kHour / 2}), "tt");
  EXPECT_EQ(p.service({kStartNs, kStartNs + kHour - 1}), "ttr");
  EXPECT_EQ(p.service({kStartNs + kTenMinutesNs - 1, kStartNs + kTenMinutesNs + 1}), "r");
}

TEST(RollupPlannerTest, ReadsProfilesWhereAHourIsMarked) {
  Planned p;
  p.view.dirty_series.emplace(p.first + 3, 0);
  p.view.dirty_series_days.emplace(day_of_hour(p.first), 0);
  p.view.dirty_services.emplace(p.first + 3, 0, 0);
  p.view.dirty_service_days.emplace(day_of_hour(p.first), 0, 0);
  EXPECT_EQ(p.series({kStartNs, kStartNs + 2 * kDay}), "hhrhhd");
  EXPECT_EQ(p.service({kStartNs, kStartNs + 2 * kDay}), "hhrhhd");
}

TEST(RollupPlannerTest, RollupsOfTotalsAreReadInPart) {
  Planned p;
  EXPECT_EQ(p.totals({kStartNs + 1, kStartNs + 2 * kDay - 1}), "DD");
  EXPECT_EQ(p.totals({kStartNs + 2 * kDay + 1, kStartNs + 3 * kDay}), "HHrr") << "not done yet";
  p.view.dirty_series.emplace(p.first + 2, 0);
  p.view.dirty_series_days.emplace(day_of_hour(p.first), 0);
  EXPECT_EQ(p.totals({kStartNs + 1, kStartNs + 3 * kHour + 1}), "HHrH");
}

// The same data in two engines; one answers from roll-ups where it can.
class RollupEqualsRaw : public testing::Test {
 protected:
  RollupEqualsRaw() {
    for (const bool use_rollups : {true, false}) {
      RocksdbOptions options;
      options.directory = directory_.path() + (use_rollups ? "/rollups" : "/raw");
      options.sync = RocksdbOptions::Sync::kInterval;
      options.background = false;
      options.use_rollups = use_rollups;
      engines_.push_back(std::move(open_rocksdb_engine(options)).value());
    }
  }

  void write(int64_t time_ns) {
    std::vector<test::ProfileSpec> specs;
    const bool heap = random_() % 3 == 0;
    const auto stack = [&] { return "main;f" + std::to_string(random_() % 20); };
    test::ProfileSpec spec;
    spec.type = heap ? test::kHeapType : test::kCpuType;
    spec.labels = {{"service_name", random_() % 2 == 0 ? "web" : "api"},
                   {"pod", "p" + std::to_string(random_() % 3)}};
    spec.time_ns = time_ns;
    spec.duration_ns = static_cast<int64_t>(random_() % 100);
    spec.period = static_cast<int64_t>(random_() % 10);
    for (int i = 0; i < 6; ++i) {
      spec.samples.push_back({stack(), static_cast<int64_t>(random_() % 1000)});
      if (random_() % 8 == 0) spec.samples.back().labels = {{"thread", "t"}};
    }
    if (random_() % 4 == 0) spec.losses = {{"ring full", random_() % 10}};
    // Often a piece of a profile, the others of which start and end with it.
    if (random_() % 2 == 0) {
      const bool has_several_services = random_() % 3 == 0;
      spec.piece_of = piece_origin(hash64(has_several_services ? "" : spec.labels["service_name"]),
                                   has_several_services);
      spec.time_ns -= spec.time_ns % kTenMinutesNs;
      spec.duration_ns = 50 + spec.duration_ns % 2;
    }
    const ProfileBatch batch = test::batch_of({spec});
    for (const auto& engine : engines_)
      ASSERT_TRUE(engine->write("t", batch, test::write_options_of({spec})));
  }

  int64_t time() {
    const int64_t units[] = {kTenMinutesNs, kHour, kHour, kDay};
    const int64_t unit = units[random_() % 4];
    const auto number = static_cast<int64_t>(random_() % static_cast<uint64_t>(4 * kDay / unit));
    return kStartNs + number * unit + static_cast<int64_t>(random_() % 3) - 1;
  }

  void compare_totals(const SelectRequest& asked) {
    TotalsRequest request;
    request.range = asked.range;
    request.type = asked.type;
    request.selector = asked.selector;
    request.group_by = asked.group_by;
    const int64_t steps[] = {kTenMinutesNs + 7, kHour, 3 * kHour, kDay, 5 * kDay + 1, INT64_MAX};
    request.step_ns = steps[random_() % 6];
    const auto rolled = engines_[0]->totals("t", request);
    const auto raw = engines_[1]->totals("t", request);
    ASSERT_TRUE(rolled) << rolled.error().message;
    ASSERT_TRUE(raw);
    ASSERT_EQ(rolled->size(), raw->size());
    for (size_t g = 0; g < raw->size(); ++g) {
      EXPECT_EQ((*rolled)[g].group, (*raw)[g].group);
      EXPECT_EQ((*rolled)[g].points, (*raw)[g].points);
    }
  }

  void compare(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      SelectRequest request;
      const int64_t a = time();
      const int64_t b = time();
      request.range = {std::min(a, b), std::max(a, b)};
      if (i % 10 == 0) request.range = kAllTime;
      request.type = test::type_of(i % 3 == 0 ? test::kHeapType : test::kCpuType);
      const char* selectors[] = {"{}", R"({service_name="web"})", R"({pod="p1"})"};
      request.selector = test::selector_of(selectors[random_() % 3]);
      if (random_() % 3 == 0) request.group_by = {random_() % 2 == 0 ? "pod" : "service_name"};
      const auto rolled = engines_[0]->select("t", request);
      const auto raw = engines_[1]->select("t", request);
      ASSERT_TRUE(rolled) << rolled.error().message;
      ASSERT_TRUE(raw);
      ASSERT_EQ(rolled->size(), raw->size());
      for (size_t g = 0; g < raw->size(); ++g) {
        EXPECT_EQ(test::header_of((*rolled)[g]), test::header_of((*raw)[g]));
        EXPECT_EQ(test::weights_of((*rolled)[g]), test::weights_of((*raw)[g]));
      }
      compare_totals(request);
    }
  }

  TemporaryFolder directory_;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::mt19937_64 random_{11};
};

// What is not rolled up yet may lie in the same day, but outside of what is asked for.
TEST_F(RollupEqualsRaw, WhenOnlyAnotherPartOfTheDayWasWrittenTo) {
  const auto write_pod = [&](const char* pod, int64_t hour) {
    test::ProfileSpec spec;
    spec.labels = {{"service_name", "web"}, {"pod", pod}};
    spec.time_ns = kStartNs + hour * kHour + 5;
    spec.samples = {{"main", 7}};
    for (const auto& engine : engines_) ASSERT_TRUE(engine->write("t", test::batch_of({spec}), {}));
  };
  write_pod("a", 12);
  write_pod("a", 30);
  ASSERT_TRUE(engines_[0]->maintain());
  write_pod("b", 3);
  SelectRequest request;
  request.type = test::type_of(test::kCpuType);
  request.group_by = {"pod"};
  for (const int64_t hour : {0, 3, 4, 10, 12, 13}) {
    request.range = {kStartNs + hour * kHour, kStartNs + (hour + 4) * kHour};
    for (int i = 0; i < 10; ++i) compare_totals(request);
  }
}

TEST_F(RollupEqualsRaw, AtEveryAlignmentWithLateWritesAndDeletes) {
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 120; ++i) {
      write(i % 4 == 0 ? time() + 1 : kStartNs + static_cast<int64_t>(random_() % (4 * kDay)));
    }
    compare(40);
    ASSERT_TRUE(engines_[0]->maintain());
    EXPECT_EQ(engines_[0]->stats().pending_rollups, 0U);
    compare(80);
    const int64_t a = time();
    for (const auto& engine : engines_) {
      ASSERT_TRUE(engine->remove("t", test::selector_of(R"({pod="p2"})"), {a, a + 7 * kHour + 5}));
      ASSERT_TRUE(
          engine->remove("t", test::selector_of(R"({service_name="api"})"), {a - kDay, a + kHour}));
    }
    compare(40);
    if (round % 2 == 0) {
      ASSERT_TRUE(engines_[0]->maintain());
    }
    compare(40);
  }
}

}  // namespace
}  // namespace vesta::rocks
