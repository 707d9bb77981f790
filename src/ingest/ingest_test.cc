#include "ingest/ingest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time.h"
#include "ingest/test_engine.h"
#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"

namespace vesta {
namespace {

using test::batch_from;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr int64_t kNow = 1'800'000'000'000'000'000;

class IngestTest : public ::testing::Test {
 protected:
  Ingest make(IngestOptions options = {}) {
    options.clock = [this] { return UnixNs(now_ns_); };
    return Ingest(engine_, std::move(options));
  }
  static ProfileBatch at(ProfileBatch batch, int64_t time_ns) {
    for (Profile& profile : batch.profiles) profile.time_ns = time_ns;
    return batch;
  }
  // Go's counters of contended mutexes, as its runtime writes them.
  static ProfileBatch mutex_reading(int64_t seconds, int64_t value) {
    return at(batch_from({{"main;lock", value}}, "delay", "nanoseconds"), kNow + seconds * kSecond);
  }

  test::RecordingEngine engine_;
  int64_t now_ns_ = kNow;
};

TEST_F(IngestTest, ProfileWithoutLabelsIsOfUnknownService) {
  Ingest ingest = make();
  ASSERT_TRUE(ingest.write("t", batch_from({{"a;b", 7}}), {}).ok());
  ASSERT_EQ(engine_.written.size(), 1u);
  EXPECT_EQ(engine_.written[0].tenant, "t");
  EXPECT_TRUE(engine_.written[0].options.durable);
  EXPECT_THAT(engine_.totals_by_series(),
              ElementsAre(Pair("process_cpu:cpu:nanoseconds::{service_name=unknown_service}", 7)));
  EXPECT_EQ(find_inconsistency(engine_.written[0].batch), "");
}

TEST_F(IngestTest, GivenLabelsBecomeLabelsOfTheSeries) {
  Ingest ingest = make();
  IngestHints hints;
  hints.labels = {{"service_name", "checkout"},
                  {"__name__", "godeltaprof_memory"},
                  {"pod", "a"},
                  {"__session_id__", "1"},
                  {"empty", ""},
                  {"pod", "a"}};
  ASSERT_TRUE(ingest.write("t", batch_from({{"a", 7}}, "alloc_space", "bytes"), hints).ok());
  EXPECT_THAT(engine_.totals_by_series(),
              ElementsAre(Pair("memory:alloc_space:bytes::{pod=a,service_name=checkout}", 7)));
  EXPECT_EQ(ingest.counters().noted(IngestNote::kLabelsDropped), 1u);
}

TEST_F(IngestTest, LabelsOutsideOfTheLimitsAreRefusedByName) {
  IngestOptions options;
  options.limits.max_labels_per_series = 3;
  options.limits.max_label_value_bytes = 10;
  options.limits.max_label_name_bytes = 10;
  Ingest ingest = make(options);
  const auto refused = [&](LabelPairs labels) {
    IngestHints hints;
    hints.labels = std::move(labels);
    const auto result = ingest.write("t", batch_from({{"a", 7}}), hints);
    EXPECT_FALSE(result.ok());
    if (result.ok()) return std::string();
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidInput);
    return result.error().message;
  };
  EXPECT_THAT(refused({{"a", "1"}, {"a", "2"}}), HasSubstr("'a': given twice"));
  EXPECT_THAT(refused({{"", "1"}}), HasSubstr("without a name"));
  EXPECT_THAT(refused({{"a\nb", "1"}}), HasSubstr("not a valid label name"));
  EXPECT_THAT(refused({{"\xff", "1"}}), HasSubstr("not a valid label name"));
  EXPECT_THAT(refused({{"elevenbytes", "1"}}), HasSubstr("11 bytes; the limit is 10"));
  EXPECT_THAT(refused({{"a", "elevenbytes"}}), HasSubstr("11 bytes; the limit is 10"));
  EXPECT_THAT(refused({{"a", "1"}, {"b", "1"}, {"c", "1"}, {"d", "1"}}),
              HasSubstr("more than 3 labels"));
  LabelPairs many;
  for (int i = 0; i < 100'000; ++i) many.emplace_back("l" + std::to_string(i), "v");
  EXPECT_THAT(refused(std::move(many)), HasSubstr("more than 3 labels"));
  EXPECT_TRUE(engine_.written.empty());
}

TEST_F(IngestTest, InvalidUtf8OfLabelValuesIsReplacedAndCounted) {
  Ingest ingest = make();
  IngestHints hints;
  hints.labels = {{"pod", "a\xff"}};
  ASSERT_TRUE(ingest.write("t", batch_from({{"a", 7}}), hints).ok());
  EXPECT_THAT(engine_.totals_by_series(), ElementsAre(Pair(HasSubstr("pod=a\xEF\xBF\xBD"), 7)));
  EXPECT_EQ(ingest.counters().noted(IngestNote::kInvalidUtf8), 1u);
}

TEST_F(IngestTest, ResourceOfTheBatchNamesTheService) {
  ProfileBatch batch = batch_from({{"a", 7}});
  DictionaryBuilder builder(batch.dictionary);
  const std::vector<Label> labels = {builder.text_label("service.name", "cart"),
                                     builder.number_label("process.pid", 42),
                                     builder.text_label("process.executable.name", "cartd")};
  batch.profiles[0].resource = builder.label_set(labels);
  Ingest ingest = make();
  ASSERT_TRUE(ingest.write("t", batch, {}).ok());
  EXPECT_THAT(engine_.totals_by_series(),
              ElementsAre(Pair("process_cpu:cpu:nanoseconds::{process.executable.name=cartd,"
                               "process.pid=42,service_name=cart}",
                               7)));
  engine_.written.clear();
  batch.profiles[0].resource = builder.label_set({&labels[2], 1});
  ASSERT_TRUE(ingest.write("t", batch, {}).ok());
  EXPECT_THAT(engine_.totals_by_series(),
              ElementsAre(Pair(HasSubstr("service_name=unknown_service:cartd"), 7)));
}

TEST_F(IngestTest, TimesOutsideOfTheWindowAreRefusedWithWhatIsAllowed) {
  Ingest ingest = make();
  for (const int64_t time : {int64_t{1}, int64_t{4'102'444'800} * kSecond, -kNow, INT64_MAX}) {
    const auto result = ingest.write("t", at(batch_from({{"a", 7}}), time), {});
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidInput);
    EXPECT_THAT(result.error().message,
                HasSubstr("is outside the accepted range, 2026-01-14T08:00:00Z"
                          " to 2027-01-15T08:10:00Z"));
  }
  EXPECT_TRUE(engine_.written.empty());
  EXPECT_TRUE(
      ingest.write("t", at(batch_from({{"a", 7}}), kNow - 300 * 86'400 * kSecond), {}).ok());
}

TEST_F(IngestTest, ProfileWithoutTimeEndsNow) {
  Ingest ingest = make();
  ProfileBatch batch = batch_from({{"a", 7}});
  batch.profiles[0].duration_ns = 10 * kSecond;
  ASSERT_TRUE(ingest.write("t", batch, {}).ok());
  EXPECT_EQ(engine_.written[0].batch.profiles[0].time_ns, kNow - 10 * kSecond);
  IngestHints hints;
  hints.time_ns = kNow - 60 * kSecond;
  hints.distrust_1970 = true;
  ASSERT_TRUE(ingest.write("t", at(batch, 1'700'000'000'000), hints).ok());
  EXPECT_EQ(engine_.written[1].batch.profiles[0].time_ns / 1'000'000,
            (kNow - 60 * kSecond) / 1'000'000);
}

TEST_F(IngestTest, AbsurdDurationsAreRefused) {
  Ingest ingest = make();
  for (const int64_t duration : {int64_t{-1}, INT64_MAX}) {
    ProfileBatch batch = batch_from({{"a", 7}});
    batch.profiles[0].duration_ns = duration;
    const auto result = ingest.write("t", batch, {});
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.error().message, HasSubstr("duration"));
  }
}

TEST_F(IngestTest, NegativeAndEmptySamplesAreDroppedAndCounted) {
  Ingest ingest = make();
  ASSERT_TRUE(ingest.write("t", batch_from({{"a", 7}, {"b", -3}, {"c", 0}}), {}).ok());
  EXPECT_THAT(test::rows(engine_.written[0].batch), ElementsAre("a 7"));
  EXPECT_EQ(ingest.counters().noted(IngestNote::kNegativeSamples), 1u);
  EXPECT_EQ(ingest.counters().noted(IngestNote::kZeroSamples), 1u);
}

TEST_F(IngestTest, NegativeSamplesAreKeptWhereDifferencesAreWelcome) {
  IngestOptions options;
  options.keep_negative = true;
  Ingest ingest = make(options);
  ASSERT_TRUE(ingest.write("t", batch_from({{"a", 7}, {"b", -3}, {"c", 0}}), {}).ok());
  EXPECT_THAT(test::rows(engine_.written[0].batch), ElementsAre("a 7", "b -3"));
  EXPECT_EQ(ingest.counters().noted(IngestNote::kNegativeSamples), 0u);
}

TEST_F(IngestTest, ProfileWithoutSamplesIsTakenAndNotStored) {
  Ingest ingest = make();
  ASSERT_TRUE(ingest.write("t", batch_from({{"a", 0}}), {}).ok());
  EXPECT_TRUE(engine_.written.empty());
}

TEST_F(IngestTest, LabelsOfSamplesBecomeSeriesAndKeepTheTotal) {
  Ingest ingest = make();
  IngestHints hints;
  hints.labels = {{"service_name", "s"}, {"region", "eu"}};
  ASSERT_TRUE(ingest
                  .write("t",
                         batch_from({{"a", 1, {{"route", "/x"}, {"thread_name", "main"}}},
                                     {"b", 2, {{"route", "/y"}}},
                                     {"c", 4, {{"route", "/x"}, {"region", "us"}}},
                                     {"d", 8}}),
                         hints)
                  .ok());
  EXPECT_THAT(engine_.totals_by_series(),
              UnorderedElementsAre(
                  Pair("process_cpu:cpu:nanoseconds::{region=eu,service_name=s}", 8),
                  Pair("process_cpu:cpu:nanoseconds::{region=eu,route=/x,service_name=s}", 5),
                  Pair("process_cpu:cpu:nanoseconds::{region=eu,route=/y,service_name=s}", 2)));
  const ProfileBatch& batch = engine_.written[0].batch;
  EXPECT_EQ(find_inconsistency(batch), "");
  // What has too many values stays where it was.
  size_t threads = 0;
  for (const Profile& profile : batch.profiles) {
    for (const LabelSetId set : profile.samples.labels) {
      for (const Label& label : batch.dictionary.label_sets[set]) {
        EXPECT_EQ(batch.dictionary.string(label.key), "thread_name");
        ++threads;
      }
    }
  }
  EXPECT_EQ(threads, 1u);
}

TEST_F(IngestTest, PlacesInTracesBecomeLinks) {
  Ingest ingest = make();
  const std::string trace = "000102030405060708090a0b0c0d0e0f";
  ASSERT_TRUE(
      ingest
          .write("t",
                 batch_from({{"a", 1, {{"profile_id", "00000000000000ff"}}},
                             {"b", 2, {{"span_id", "0000000000000001"}, {"trace_id", trace}}},
                             {"c", 4, {{"span_id", "no hex"}}}}),
                 {})
          .ok());
  const ProfileBatch& batch = engine_.written[0].batch;
  ASSERT_EQ(batch.profiles.size(), 1u);
  const Samples& samples = batch.profiles[0].samples;
  ASSERT_EQ(samples.links.size(), 3u);
  EXPECT_EQ(batch.dictionary.links[samples.links[0].index()].span_id[7], 0xff);
  EXPECT_EQ(batch.dictionary.links[samples.links[1].index()].trace_id[15], 0x0f);
  EXPECT_FALSE(samples.links[2]);
  // Only what is no id is still a label.
  EXPECT_FALSE(samples.label_set(0));
  EXPECT_FALSE(samples.label_set(1));
  EXPECT_TRUE(samples.label_set(2));
}

TEST_F(IngestTest, PiecesOfAProfileAreMarkedAsSuch) {
  Ingest ingest = make();
  const auto origins = [&](const std::vector<test::FoldedStack>& stacks, const char* pod) {
    IngestHints hints;
    hints.labels = {{"service_name", "web"}, {"pod", pod}};
    EXPECT_TRUE(ingest.write("t", batch_from(stacks), hints).ok());
    return engine_.written.back().options.piece_of;
  };
  const std::vector<test::FoldedStack> tagged = {
      {"a", 1, {{"path", "/x"}}}, {"b", 1, {{"path", "/y"}}}, {"c", 1, {}}};
  const auto pieces = origins(tagged, "a");
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_NE(pieces[0], 0u);
  EXPECT_THAT(pieces, ::testing::Each(pieces[0]));
  EXPECT_FALSE(has_several_services(pieces[0]));
  EXPECT_EQ(origins(tagged, "a"), pieces) << "sent again, it is the same profile";
  EXPECT_NE(origins(tagged, "b"), pieces);
  // One that stays in one piece is whole, with its label or without.
  EXPECT_THAT(origins({{"a", 1, {}}}, "a"), ElementsAre(0u));
  EXPECT_THAT(origins({{"a", 1, {{"path", "/x"}}}}, "a"), ElementsAre(0u));
  ASSERT_TRUE(
      ingest
          .write("t",
                 batch_from({{"a", 1, {{"service.name", "x"}}}, {"a", 1, {{"service.name", "y"}}}}),
                 {})
          .ok());
  const auto across = engine_.written.back().options.piece_of;
  ASSERT_EQ(across.size(), 2u);
  EXPECT_EQ(across[0], across[1]);
  EXPECT_TRUE(has_several_services(across[0]));
}

TEST_F(IngestTest, SeriesOfOneProfileAreBoundedAndNothingIsLost) {
  IngestOptions options;
  options.limits.max_series_per_profile = 5;
  Ingest ingest = make(options);
  std::vector<std::string> values(100);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::to_string(i);
  std::vector<test::FoldedStack> stacks;
  stacks.reserve(values.size());
  for (const std::string& value : values) stacks.push_back({"a", 1, {{"request", value}}});
  ASSERT_TRUE(ingest.write("t", batch_from(stacks), {}).ok());
  const auto totals = engine_.totals_by_series();
  EXPECT_EQ(totals.size(), 5u);
  int64_t sum = 0;
  for (const auto& [name, total] : totals) sum += total;
  EXPECT_EQ(sum, 100);
  EXPECT_EQ(ingest.counters().noted(IngestNote::kUnsplitSamples), 96u);
}

TEST_F(IngestTest, CumulativeProfilesBecomeDifferences) {
  Ingest ingest = make();
  IngestHints hints;
  hints.delta = DeltaMode::kIfCumulative;
  ASSERT_TRUE(ingest.write("t", mutex_reading(0, 100), hints).ok());
  EXPECT_TRUE(engine_.written.empty());  // nothing to compare with
  ASSERT_TRUE(ingest.write("t", mutex_reading(15, 130), hints).ok());
  ASSERT_TRUE(ingest.write("t", mutex_reading(15, 130), hints).ok());  // sent once more
  ASSERT_TRUE(ingest.write("t", mutex_reading(10, 120), hints).ok());  // late
  ASSERT_TRUE(ingest.write("t", mutex_reading(30, 131), hints).ok());
  ASSERT_TRUE(ingest.write("t", mutex_reading(45, 5), hints).ok());  // restarted
  ASSERT_EQ(engine_.written.size(), 3u);
  const auto total = [&](size_t i) { return total_of(engine_.written[i].batch.profiles[0], 0); };
  EXPECT_EQ(total(0), 30);
  EXPECT_EQ(total(1), 1);
  EXPECT_EQ(total(2), 5);
  // Below the millisecond it has digits that tell it apart.
  EXPECT_EQ(engine_.written[0].batch.profiles[0].time_ns / 1'000'000, kNow / 1'000'000);
  EXPECT_EQ(engine_.written[0].batch.profiles[0].duration_ns, 15 * kSecond);
  EXPECT_EQ(ingest.counters().noted(IngestNote::kFirstReadings), 1u);
  EXPECT_EQ(ingest.counters().noted(IngestNote::kStaleReadings), 1u);
}

TEST_F(IngestTest, FailedWriteDoesNotMoveTheBaseOfTheDifference) {
  Ingest ingest = make();
  IngestHints hints;
  hints.delta = DeltaMode::kAlways;
  ASSERT_TRUE(ingest.write("t", mutex_reading(0, 100), hints).ok());
  engine_.problem = {ErrorCode::kUnavailable, "disk full", ""};
  EXPECT_EQ(ingest.write("t", mutex_reading(15, 130), hints).error().code, ErrorCode::kUnavailable);
  engine_.problem = {};
  ASSERT_TRUE(ingest.write("t", mutex_reading(15, 130), hints).ok());
  EXPECT_EQ(total_of(engine_.written.at(0).batch.profiles[0], 0), 30);
}

TEST_F(IngestTest, DifferencesAreOfOneTenantAndOneSeries) {
  Ingest ingest = make();
  IngestHints hints;
  hints.delta = DeltaMode::kAlways;
  ASSERT_TRUE(ingest.write("a", mutex_reading(0, 100), hints).ok());
  ASSERT_TRUE(ingest.write("b", mutex_reading(1, 130), hints).ok());
  hints.labels = {{"pod", "x"}};
  ASSERT_TRUE(ingest.write("a", mutex_reading(1, 130), hints).ok());
  EXPECT_TRUE(engine_.written.empty());
}

TEST_F(IngestTest, GaugesAndDifferencesOfTheSenderAreKept) {
  Ingest ingest = make();
  IngestHints hints;
  hints.delta = DeltaMode::kIfCumulative;
  ASSERT_TRUE(
      ingest.write("t", at(batch_from({{"a", 9}}, "inuse_space", "bytes"), kNow), hints).ok());
  hints.labels = {{"__delta__", "false"}};
  ASSERT_TRUE(ingest.write("t", mutex_reading(0, 100), hints).ok());
  EXPECT_THAT(
      engine_.totals_by_series(),
      UnorderedElementsAre(Pair("memory:inuse_space:bytes::{service_name=unknown_service}", 9),
                           Pair("mutex:delay:nanoseconds::{service_name=unknown_service}", 100)));
}

TEST_F(IngestTest, ReadingsAreForgottenWhenThereAreTooMany) {
  IngestOptions options;
  options.max_delta_bytes = 20'000;
  Ingest ingest = make(options);
  IngestHints hints;
  hints.delta = DeltaMode::kAlways;
  for (int pod = 0; pod < 100; ++pod) {
    hints.labels = {{"pod", std::to_string(pod)}};
    ASSERT_TRUE(ingest.write("t", mutex_reading(0, 100), hints).ok());
  }
  EXPECT_LE(ingest.delta_bytes(), 20'000u);
  EXPECT_GT(ingest.counters().noted(IngestNote::kDeltaEvictions), 0u);
}

TEST_F(IngestTest, RateIsBoundedForEachTenantAlone) {
  IngestOptions options;
  options.limits.bytes_per_second = 100;
  options.limits.burst_bytes = 1000;
  Ingest ingest = make(options);
  IngestHints hints;
  hints.decoded_bytes = 900;
  ASSERT_TRUE(ingest.write("a", batch_from({{"a", 7}}), hints).ok());
  const auto second = ingest.write("a", batch_from({{"a", 7}}), hints);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kTooMany);
  EXPECT_EQ(ingest.retry_after_s("a"), 8);
  EXPECT_TRUE(ingest.write("b", batch_from({{"a", 7}}), hints).ok());
  now_ns_ += 8 * kSecond;
  EXPECT_TRUE(ingest.write("a", batch_from({{"a", 7}}), hints).ok());
  // One that is larger than the burst goes when nothing else went for a while.
  hints.decoded_bytes = 5000;
  EXPECT_FALSE(ingest.write("a", batch_from({{"a", 7}}), hints).ok());
  now_ns_ += 11 * kSecond;
  EXPECT_TRUE(ingest.write("a", batch_from({{"a", 7}}), hints).ok());
}

TEST_F(IngestTest, NewSeriesAreRefusedAtTheLimitAndKnownOnesGoOn) {
  IngestOptions options;
  options.limits.max_series = 10;
  Ingest ingest = make(options);
  engine_.series_count = 10;
  const auto refused = ingest.write("t", batch_from({{"a", 7}}), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kTooMany);
  engine_.known_series = {SeriesInfo{}};
  EXPECT_TRUE(ingest.write("t", batch_from({{"a", 7}}), {}).ok());
}

TEST_F(IngestTest, TooManySamplesAreRefused) {
  IngestOptions options;
  options.limits.max_samples = 1;
  Ingest ingest = make(options);
  const auto result = ingest.write("t", batch_from({{"a", 7}, {"b", 7}}), {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kLimit);
}

TEST_F(IngestTest, TenantsHaveLimitsOfTheirOwn) {
  IngestOptions options;
  options.tenant_limits["small"].max_samples = 1;
  Ingest ingest = make(options);
  EXPECT_FALSE(ingest.write("small", batch_from({{"a", 7}, {"b", 7}}), {}).ok());
  EXPECT_TRUE(ingest.write("other", batch_from({{"a", 7}, {"b", 7}}), {}).ok());
  EXPECT_EQ(ingest.read_options("small").max_samples, 1u);
}

TEST_F(IngestTest, PartialWriteLeavesOutWhatIsWrong) {
  ProfileBatch batch = batch_from({{"a", 7}});
  batch.profiles.push_back(batch.profiles[0]);
  batch.profiles[1].time_ns = 1;
  Ingest ingest = make();
  EXPECT_FALSE(ingest.write("t", batch, {}).ok());
  IngestHints hints;
  hints.partial = true;
  const auto receipt = ingest.write("t", batch, hints);
  ASSERT_TRUE(receipt.ok());
  EXPECT_EQ(receipt->rejected_profiles, 1u);
  EXPECT_THAT(receipt->problems.at(0).message, HasSubstr("profile 1: time:"));
  EXPECT_EQ(receipt->stored.profiles, 1u);
}

TEST_F(IngestTest, CpuTimeInAWallProfileIsAFamilyOfItsOwn) {
  ProfileBatch batch = batch_from({{"a", 7}}, "wall", "nanoseconds");
  Profile& profile = batch.profiles[0];
  profile.sample_types.push_back({batch.dictionary.strings.intern("cpu"),
                                  batch.dictionary.strings.intern("nanoseconds"),
                                  Temporality::kCumulative});
  profile.samples.values = {7, 3};
  Ingest ingest = make();
  ASSERT_TRUE(ingest.write("t", batch, {}).ok());
  EXPECT_THAT(
      engine_.totals_by_series(),
      UnorderedElementsAre(Pair("wall:wall:nanoseconds::{service_name=unknown_service}", 7),
                           Pair("process_cpu:cpu:nanoseconds::{service_name=unknown_service}", 3)));
}

TEST_F(IngestTest, ColonsDoNotGetIntoTypes) {
  Ingest ingest = make();
  ASSERT_TRUE(ingest.write("t", batch_from({{"a", 7}}, "cycles:u", "count"), {}).ok());
  EXPECT_THAT(engine_.totals_by_series(),
              ElementsAre(Pair("cycles_u:cycles_u:count::{service_name=unknown_service}", 7)));
}

TEST_F(IngestTest, GoGenericsAreCollapsedOnRequest) {
  IngestOptions options;
  options.collapse_go_generics = true;
  Ingest ingest = make(options);
  ASSERT_TRUE(ingest.write("t", batch_from({{"main.F[go.shape.int].func1", 7}}), {}).ok());
  EXPECT_THAT(test::rows(engine_.written[0].batch), ElementsAre("main.F[...].func1 7"));
}

TEST_F(IngestTest, RandomBatchesKeepTheirTotals) {
  Ingest ingest = make();
  for (uint64_t seed = 0; seed < 30; ++seed) {
    engine_.written.clear();
    ProfileBatch batch = at(test::random_batch(seed), kNow);
    for (Profile& p : batch.profiles) p.duration_ns = 0;
    std::map<std::string, int64_t> before;
    for (const Profile& p : batch.profiles) {
      for (size_t type = 0; type < p.sample_types.size(); ++type) {
        before[std::string(batch.dictionary.string(p.sample_types[type].type))] +=
            total_of(p, type);
      }
    }
    const auto receipt = ingest.write("t", std::move(batch), {});
    ASSERT_TRUE(receipt.ok()) << receipt.error().message;
    std::map<std::string, int64_t> after;
    for (const auto& [type, unused] : before)
      after[type] = test::total_of_type(engine_.written.at(0).batch, type);
    EXPECT_EQ(before, after) << seed;
  }
}

}  // namespace
}  // namespace vesta
