// What is kept of single samples and profiles: labels, links, times, ids, frames.
#include <gmock/gmock.h>

#include <algorithm>

#include "profile/dictionary_builder.h"
#include "store/stack_tree.h"
#include "store/testing/engine_suite.h"

namespace vesta::test {
namespace {

using testing::SizeIs;
using Weights = std::map<std::string, int64_t>;

Link link_of(uint8_t trace, uint8_t span) {
  Link link;
  link.trace_id.fill(trace);
  link.span_id.fill(span);
  return link;
}

// Two profiles of one series and one of another, with all that a sample can have.
std::vector<ProfileSpec> rich_profiles() {
  return {{.labels = {{"service_name", "web"}},
           .time_ns = kStartNs,
           .samples = {{"main;a", 1, {{"thread", "t1"}}, {}, link_of(1, 1), kStartNs + 5},
                       {"main;a", 2, {{"thread", "t2"}}, {{"size", 64}}, link_of(1, 2)},
                       {"main;a", 4, {}, {}, {}, kStartNs + 7},
                       {"main;b", 8}}},
          {.labels = {{"service_name", "web"}},
           .time_ns = kStartNs + kHourNs,
           .samples = {{"main;a", 16, {{"thread", "t1"}}, {}, link_of(1, 1), kStartNs + kHourNs},
                       {"main;b", 32, {}, {{"size", 128}}, link_of(2, 3)}}},
          {.labels = {{"service_name", "web"}, {"pod", "b"}},
           .time_ns = kStartNs,
           .samples = {{"main;c", 64, {{"thread", "t1"}}}}}};
}

TEST_P(EngineSuite, SamplesComeBackAsTheyWereWritten) {
  std::vector<ProfileSpec> specs = rich_profiles();
  specs.erase(specs.begin() + 1);  // one profile per series is one profile of the answer
  specs[0].losses = {{"ring full", 2}};
  write(specs);
  whenever([&] {
    SamplesRequest asked = samples_request();
    asked.keep_times = true;
    const ProfileBatch back = samples(asked);
    EXPECT_EQ(find_inconsistency(back), "");
    EXPECT_EQ(lines_of(back), lines_of(batch_of(specs)));
  });
}

TEST_P(EngineSuite, SamplesOfASeriesAreMergedByWhatIsKept) {
  write(rich_profiles());
  whenever([&] {
    SamplesRequest asked = samples_request();
    ProfileBatch back = samples(asked);
    ASSERT_EQ(back.profiles.size(), 2U) << "one profile per series, in the order of their labels";
    EXPECT_EQ(back.profiles[0].samples.size(), 1U);  // pod="b" is before no pod
    EXPECT_EQ(back.profiles[1].samples.size(), 5U);
    EXPECT_EQ(back.profiles[1].time_ns, kStartNs);
    EXPECT_EQ(back.profiles[1].duration_ns, 20 * kSecondNs);
    EXPECT_TRUE(std::ranges::all_of(back.profiles[1].samples.times_ns,
                                    [](int64_t time) { return time == 0; }));
    asked.keep_times = true;
    EXPECT_EQ(samples(asked).profiles[1].samples.size(), 6U);
    asked.keep_times = false;
    asked.keep_labels = false;
    asked.keep_links = false;
    back = samples(asked);
    EXPECT_EQ(back.profiles[1].samples.size(), 2U);
    EXPECT_EQ(total_of(back.profiles[1], 0), 63);
  });
}

TEST_P(EngineSuite, FiltersSamplesByTheirLabels) {
  write(rich_profiles());
  const auto by = [&](std::string_view selector, std::string_view series = "{}") {
    SelectRequest asked = request(kCpuType, series);
    asked.samples.labels = selector_of(selector);
    return weights_of(select(asked));
  };
  whenever([&] {
    EXPECT_EQ(by(R"({thread="t1"})"), (Weights{{"web|main;a", 17}, {"web|main;c", 64}}));
    EXPECT_EQ(by(R"({thread="t1"})", R"({pod=""})"), (Weights{{"web|main;a", 17}}));
    EXPECT_EQ(by(R"({thread=~"t.*"})"), (Weights{{"web|main;a", 19}, {"web|main;c", 64}}));
    EXPECT_EQ(by(R"({thread=""})"), (Weights{{"web|main;a", 4}, {"web|main;b", 40}}));
    EXPECT_EQ(by(R"({thread!="t1"})"), (Weights{{"web|main;a", 6}, {"web|main;b", 40}}));
    EXPECT_EQ(by(R"({size="64"})"), (Weights{{"web|main;a", 2}}));
    EXPECT_EQ(by(R"({thread="t2", size!="64"})"), Weights{});
  });
}

TEST_P(EngineSuite, FiltersSamplesByTraceAndSpan) {
  write(rich_profiles());
  SelectRequest asked = request();
  whenever([&] {
    asked.samples = {};
    asked.samples.trace_ids = {link_of(1, 0).trace_id};
    EXPECT_EQ(weights_of(select(asked)), (Weights{{"web|main;a", 19}}));
    asked.samples.trace_ids.push_back(link_of(2, 0).trace_id);
    EXPECT_EQ(weights_of(select(asked)), (Weights{{"web|main;a", 19}, {"web|main;b", 32}}));
    asked.samples.span_ids = {link_of(0, 2).span_id, link_of(0, 3).span_id};
    EXPECT_EQ(weights_of(select(asked)), (Weights{{"web|main;a", 2}, {"web|main;b", 32}}));
    asked.samples.trace_ids.clear();
    asked.samples.labels = selector_of(R"({thread="t2"})");
    EXPECT_EQ(weights_of(select(asked)), (Weights{{"web|main;a", 2}}));
    asked.samples.span_ids = {link_of(0, 9).span_id};
    EXPECT_EQ(select(asked).total, 0);
    SamplesRequest exported = samples_request();
    exported.select.samples.span_ids = {link_of(0, 3).span_id};
    const ProfileBatch back = samples(exported);
    int64_t total = 0;
    for (const Profile& profile : back.profiles) total += total_of(profile, 0);
    EXPECT_EQ(total, 32);
  });
}

TEST_P(EngineSuite, FiltersSamplesByTheirTimes) {
  write(rich_profiles());
  const auto at = [&](int64_t from_ns, int64_t to_ns) {
    SelectRequest asked = request();
    asked.samples.times = TimeRange{from_ns, to_ns};
    return weights_of(select(asked));
  };
  whenever([&] {
    EXPECT_EQ(at(kStartNs, kStartNs + kDayNs), (Weights{{"web|main;a", 21}}));
    EXPECT_EQ(at(kStartNs + 5, kStartNs + 7), (Weights{{"web|main;a", 1}}));
    EXPECT_EQ(at(kStartNs + 6, kStartNs + kHourNs + 1), (Weights{{"web|main;a", 20}}));
    EXPECT_EQ(at(kStartNs + 8, kStartNs + 9), Weights{});
    // What has no time is in no range, not even in that of all times.
    EXPECT_EQ(at(INT64_MIN, INT64_MAX), (Weights{{"web|main;a", 21}}));
    SelectRequest asked = request();
    asked.samples.times = TimeRange{kStartNs + 8, kStartNs + 9};
    EXPECT_EQ(select(asked).profiles, 3U);
    SamplesRequest exported = samples_request();
    exported.keep_times = true;
    exported.select.samples.times = TimeRange{kStartNs + 5, kStartNs + 6};
    int64_t total = 0;
    for (const Profile& profile : samples(exported).profiles) total += total_of(profile, 0);
    EXPECT_EQ(total, 1);
  });
}

TEST_P(EngineSuite, SelectsProfilesByTheirTotals) {
  write(rich_profiles());  // of 15, 48 and 64
  const auto within = [&](int64_t min, int64_t max) {
    SelectRequest asked = request();
    asked.totals = ValueRange{min, max};
    return select(asked);
  };
  whenever([&] {
    EXPECT_EQ(within(15, 49).total, 63);
    EXPECT_EQ(within(15, 49).profiles, 2U);
    EXPECT_EQ(within(16, 48).profiles, 0U);
    EXPECT_EQ(within(48, 64).total, 48);
    EXPECT_EQ(within(INT64_MIN, INT64_MAX).total, 127);
    SelectRequest asked = request();
    asked.totals = ValueRange{0, 16};
    asked.samples.labels = selector_of(R"({thread="t1"})");
    EXPECT_EQ(select(asked).total, 1) << "the total is that of all samples";
    SamplesRequest exported = samples_request();
    exported.select.totals = ValueRange{64, 65};
    const ProfileBatch back = samples(exported);
    ASSERT_EQ(back.profiles.size(), 1U);
    EXPECT_EQ(total_of(back.profiles[0], 0), 64);
  });
}

TEST_P(EngineSuite, PointsSayHowMuchOfThemIsMarked) {
  write(rich_profiles());
  PointsRequest asked = points_request();
  asked.marks = [](const StackTree& tree) {
    std::vector<uint8_t> marks;
    for (const StackNumber stack : Ids<StackNumber>(0, tree.stack_count())) {
      const StoredFrame& leaf = tree.stored_frame(tree.frame(tree.leaf(stack)));
      marks.push_back(tree.string(leaf.name) == "a" ? 1 : 0);
    }
    return marks;
  };
  whenever([&] {
    std::map<int64_t, int64_t> marked;
    asked.by_span = false;
    for (const ProfilePoint& point : points(asked)) marked[point.value] = point.marked;
    EXPECT_EQ(marked, (std::map<int64_t, int64_t>{{15, 7}, {48, 16}, {64, 0}}));
    asked.by_span = true;
    marked.clear();
    for (const ProfilePoint& point : points(asked)) marked[point.value] = point.marked;
    EXPECT_EQ(marked, (std::map<int64_t, int64_t>{{1, 1}, {2, 2}, {16, 16}, {32, 0}}));
  });
}

TEST_P(EngineSuite, AFilterChoosesSamplesAndNotProfiles) {
  write(
      {{.type = std::string(kHeapType), .samples = {{"m", 100, {{"thread", "t1"}}}}},
       {.type = std::string(kHeapType), .time_ns = kStartNs + kSecondNs, .samples = {{"m", 50}}}});
  whenever([&] {
    SelectRequest asked = request(kHeapType);
    asked.samples.labels = selector_of(R"({thread="t1"})");
    const Selection answer = select(asked);
    EXPECT_EQ(answer.total, 50);
    EXPECT_EQ(answer.profiles, 2U);
  });
}

TEST_P(EngineSuite, PointsAreProfilesWithTheirTotals) {
  write(rich_profiles());
  whenever([&] {
    std::vector<std::string> texts;
    std::set<std::string> ids;
    for (const ProfilePoint& point : points(points_request())) {
      texts.push_back(own_labels(point.labels) + " " + std::to_string(point.time_ns - kStartNs) +
                      " " + std::to_string(point.value));
      EXPECT_EQ(point.duration_ns, 10 * kSecondNs);
      EXPECT_EQ(point.span_id, Link{}.span_id);
      EXPECT_THAT(point.profile_id, SizeIs(32));
      EXPECT_EQ(point.profile_id.find_first_not_of("0123456789abcdef"), std::string::npos);
      ids.insert(point.profile_id);
    }
    EXPECT_THAT(texts, testing::UnorderedElementsAre(
                           "{service_name=\"web\"} 0 15",
                           "{service_name=\"web\"} " + std::to_string(kHourNs) + " 48",
                           "{pod=\"b\", service_name=\"web\"} 0 64"));
    EXPECT_THAT(ids, SizeIs(3)) << "ids tell profiles apart";
    EXPECT_THAT(points(points_request(kCpuType, R"({pod="b"})")), SizeIs(1));
    EXPECT_THAT(points(points_request(kCpuType, "{}", {kStartNs, kStartNs + 1})), SizeIs(2));
  });
}

TEST_P(EngineSuite, PointsCanBeSpans) {
  write(rich_profiles());
  whenever([&] {
    PointsRequest asked = points_request();
    asked.by_span = true;
    std::map<std::pair<int, int64_t>, int64_t> values;  // by span and time
    for (const ProfilePoint& point : points(asked)) {
      EXPECT_NE(point.span_id, Link{}.span_id) << "samples without a span are no point";
      values[{point.span_id[0], point.time_ns - kStartNs}] += point.value;
    }
    EXPECT_EQ(values, (std::map<std::pair<int, int64_t>, int64_t>{
                          {{1, 0}, 1}, {{2, 0}, 2}, {{1, kHourNs}, 16}, {{3, kHourNs}, 32}}));
  });
}

TEST_P(EngineSuite, MorePointsThanTheLimitAreRefused) {
  write(rich_profiles());
  PointsRequest asked = points_request();
  asked.limit = 3;
  EXPECT_THAT(points(asked), SizeIs(3));
  asked.limit = 2;
  const auto refused = engine().points(kTenant, asked);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
  EXPECT_NE(refused.error().hint, "");
}

TEST_P(EngineSuite, SelectsProfilesByTheirIds) {
  write(rich_profiles());
  whenever([&] {
    const auto all = points(points_request());
    int64_t sum = 0;
    SelectRequest both = request();
    for (const ProfilePoint& point : all) {
      SelectRequest asked = request();
      asked.profile_ids = {point.profile_id};
      const Selection one = select(asked);
      EXPECT_EQ(one.total, point.value);
      EXPECT_EQ(one.profiles, 1U);
      EXPECT_EQ(one.first_ns, point.time_ns);
      if (sum == 0 || both.profile_ids.size() < 2) {
        both.profile_ids.push_back(point.profile_id);
        sum += point.value;
      }
    }
    EXPECT_EQ(select(both).total, sum);
    SelectRequest unknown = request();
    unknown.profile_ids = {std::string(32, '0')};
    EXPECT_EQ(select(unknown).profiles, 0U);
  });
}

TEST_P(EngineSuite, FramesKeepAllThatTellsThemApart) {
  ProfileBatch batch = batch_of({{.labels = {{"service_name", "web"}}}});
  DictionaryBuilder builder(batch.dictionary);
  Profile& profile = batch.profiles.front();
  Mapping mapping;
  mapping.start = 0x400000;
  mapping.limit = 0x500000;
  mapping.file_offset = 0x1000;
  mapping.file = builder.string("/usr/bin/web");
  mapping.build_id = builder.string("abcdef01");
  const MappingId in_web = builder.mapping(mapping);
  const FunctionId outer = builder.function(
      {builder.string("outer()"), builder.string("_Z5outer"), builder.string("src/outer.cc"), 10});
  const FunctionId inner = builder.function(
      {builder.string("inner()"), builder.string("_Z5inner"), builder.string("src/inner.cc"), 20});
  const std::vector<Line> inlined = {{inner, 7, 21}, {outer, 3, 12}};
  const std::vector<Line> other_line = {{inner, 7, 22}, {outer, 3, 12}};
  const LocationId locations[] = {
      builder.location({0x400010, in_web, FrameKind::kNative, false}, inlined),
      builder.location({0x400020, in_web, FrameKind::kNative, false}, other_line),
      builder.location({0x400030, in_web, FrameKind::kNative, false}, {}),  // no name
      builder.location({0x400040, in_web, FrameKind::kNative, false}, {}),
      builder.location({0xffff0010, {}, FrameKind::kKernel, false}, {}),
      builder.frame("do_syscall", "", 0, FrameKind::kKernel),
      builder.frame("do_syscall", "", 0, FrameKind::kNative),
      builder.frame("run", "app.py", 4, FrameKind::kCpython),
  };
  int64_t value = 1;
  for (const LocationId location : locations) {
    const LocationId stack[] = {location, locations[0]};
    profile.add_sample(builder.stack(stack), std::span<const int64_t>(&value, 1));
    value *= 2;
  }
  write(batch);
  whenever([&] {
    const ProfileBatch back = samples(samples_request());
    EXPECT_EQ(find_inconsistency(back), "");
    EXPECT_EQ(lines_of(back), lines_of(batch));
    const Selection sum = select();
    EXPECT_EQ(exact_weights_of(sum).size(), std::size(locations)) << "unequal stacks stay apart";
    EXPECT_EQ(weights_of(sum).at("web|outer();inner();outer();inner()"), 1 + 2);
    EXPECT_EQ(weights_of(sum).at("web|outer();inner();[web]"), 4 + 8);
  });
}

TEST_P(EngineSuite, AddressesOfNamedFramesMakeNoNewStacks) {
  // What a program looks like after each start, with its addresses randomised.
  for (const uint64_t base : {0x10000U, 0x20000U, 0x30000U}) {
    ProfileBatch batch = batch_of({{.time_ns = kStartNs + static_cast<int64_t>(base)}});
    DictionaryBuilder builder(batch.dictionary);
    Mapping mapping;
    mapping.start = base;
    mapping.limit = base + 0x1000;
    mapping.file = builder.string("/bin/a");
    const MappingId mapped = builder.mapping(mapping);
    const Line line{builder.function("work"), 0, 3};
    const LocationId stack[] = {
        builder.location({base + 0x10, mapped, FrameKind::kNative, false}, {&line, 1}),
        builder.location({base + 0x20, mapped, FrameKind::kNative, false}, {})};
    const int64_t value = 1;
    batch.profiles.front().add_sample(builder.stack(stack), {&value, 1});
    const WriteReceipt receipt = write(batch);
    EXPECT_EQ(receipt.new_stacks, base == 0x10000U ? 1U : 0U);
  }
  whenever([&] { EXPECT_THAT(exact_weights_of(select()), SizeIs(1)); });
}

TEST_P(EngineSuite, GaugesOfSamplesAreAveragesToo) {
  write({{.type = std::string(kHeapType), .samples = {{"m", 100, {{"k", "v"}}}, {"m", 10}}},
         {.type = std::string(kHeapType), .time_ns = kStartNs + 1, .samples = {{"m", 30}}}});
  whenever([&] {
    const ProfileBatch back = samples(samples_request(kHeapType));
    ASSERT_THAT(back.profiles, SizeIs(1));
    EXPECT_EQ(total_of(back.profiles[0], 0), 70);
    EXPECT_EQ(back.profiles[0].samples.size(), 2U);
  });
}

}  // namespace
}  // namespace vesta::test
