#include "server/files/file_shelf.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/time.h"
#include "formats/common/losses.h"
#include "formats/pprof/writer.h"
#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"

namespace vesta::server {
namespace {

constexpr int64_t kNow = 1'763'208'000'000'000'000;

class FileShelfTest : public testing::Test {
 protected:
  FileShelfTest() {
    options_.clock = [this] { return UnixNs(now_ns_); };
  }
  FileShelf& shelf() {
    if (shelf_ == nullptr) shelf_ = std::make_unique<FileShelf>(options_);
    return *shelf_;
  }
  FileShelf::File open(std::string_view name, std::string_view bytes = "main;work 3\n",
                       std::string_view tenant = "t") {
    auto file = shelf().open(tenant, name, bytes);
    EXPECT_TRUE(file.ok()) << file.error().message;
    return file.ok() ? *file : nullptr;
  }
  std::vector<std::string> names(std::string_view tenant = "t") {
    std::vector<std::string> names;
    for (const auto& file : shelf().list(tenant)) names.push_back(file->name);
    return names;
  }

  int64_t now_ns_ = kNow;
  FileShelf::Options options_;
  std::unique_ptr<FileShelf> shelf_;
};

using Names = std::vector<std::string>;

TEST_F(FileShelfTest, KnowsWhatIsInAFile) {
  const auto file = open("a.folded", "main;work 3\nmain;idle 4\n");
  EXPECT_EQ(file->format, "folded");
  ASSERT_EQ(file->types.size(), 1U);
  EXPECT_EQ(file->types[0].total, 7);
  EXPECT_EQ(file->types[0].samples, 2U);
  EXPECT_EQ(file->labels, Names{"service_name"});
  EXPECT_GT(file->bytes, 100U);
  // It does not say when it was taken.
  EXPECT_EQ(file->range.start_ns, kNow);
  EXPECT_TRUE(file->range.contains(kNow));
}

TEST_F(FileShelfTest, KeepsTimesLabelsAndTheDefaultTypeOfAFile) {
  ProfileBatch batch = test::batch_from({{"main;a", 5}}, "alloc_space", "bytes");
  DictionaryBuilder b(batch.dictionary);
  Profile& profile = batch.profiles[0];
  profile.sample_types.push_back(
      {b.string("inuse_space"), b.string("bytes"), Temporality::kInstant});
  profile.samples.values = {5, 2};
  profile.default_type = 1;
  profile.time_ns = 1'000'000'000'000;  // long ago
  profile.duration_ns = 10 * kMinute;
  const auto file = open("heap.pb.gz", write_pprof(batch));
  ASSERT_EQ(file->types.size(), 2U);
  EXPECT_EQ(file->types[0].word, "inuse");
  EXPECT_EQ(file->types[0].total, 2);
  EXPECT_EQ(file->types[1].word, "alloc");
  EXPECT_EQ(file->types[1].type.id(), "memory:alloc_space:bytes::");
  EXPECT_EQ(file->range.start_ns, profile.time_ns);
  EXPECT_EQ(file->range.end_ns, profile.time_ns + profile.duration_ns);
}

TEST_F(FileShelfTest, ShowsATypeThatHasValuesFirst) {
  ProfileBatch batch = test::batch_from({{"main;a", 5}}, "alloc_objects", "count");
  DictionaryBuilder b(batch.dictionary);
  Profile& profile = batch.profiles[0];
  for (const auto* type : {"alloc_space", "inuse_space"})
    profile.sample_types.push_back({b.string(type), b.string("bytes"), Temporality::kCumulative});
  profile.samples.values = {5, 80, 0};
  profile.default_type = 2;
  const auto file = open("heap.pb.gz", write_pprof(batch));
  EXPECT_EQ(file->types.at(0).type.sample_type, "alloc_space");
}

TEST_F(FileShelfTest, SaysHowToConvertFilesOfOtherTools) {
  const auto file = shelf().open("t", "perf.data", "PERFILE2h" + std::string(100, '\0'));
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, ErrorCode::kInvalidInput);  // HTTP 400
  EXPECT_EQ(file.error().message, "this is a perf.data file, which Vesta does not read");
  EXPECT_EQ(file.error().hint, "convert it: perf script -i FILE | vesta top -");
}

TEST_F(FileShelfTest, KeepsNegativeValuesOfADifference) {
  const auto file = open("d.folded", "main;more 7\nmain;less -3\n");
  ASSERT_EQ(file->types.size(), 1U);
  EXPECT_EQ(file->types[0].samples, 2U);
  EXPECT_EQ(file->types[0].total, 4);
  SelectRequest request;
  request.type = file->types[0].type;
  request.range = kAllTime;
  request.budget.bytes = UINT64_MAX;
  const auto selections = file->engine->select("t", request);
  ASSERT_TRUE(selections.ok());
  ASSERT_EQ(selections->at(0).losses.size(), 1U);
  EXPECT_EQ(selections->at(0).losses[0].reason, kLossNegative);
  EXPECT_EQ(selections->at(0).losses[0].count, 1U);
}

// Samples of five threads with seven values of a label that becomes one of series.
std::string tagged_file(int rows, int64_t duration_ns) {
  std::vector<std::string> stacks;
  std::vector<std::string> paths;
  std::vector<std::string> threads;
  for (int i = 0; i < rows; ++i) {
    stacks.push_back(fmt::format("main;f{};g{}", i % 300, i));
    paths.push_back(fmt::format("/{}", i % 7));
    threads.push_back(fmt::format("t{}", i % 5));
  }
  std::vector<test::FoldedStack> samples;
  for (size_t i = 0; i < stacks.size(); ++i)
    samples.push_back({stacks[i], 1, {{"path", paths[i]}, {"thread", threads[i]}}});
  ProfileBatch batch = test::batch_from(samples);
  batch.profiles[0].time_ns = kNow - kMinute;
  batch.profiles[0].duration_ns = duration_ns;
  return write_pprof(batch);
}

TEST_F(FileShelfTest, LabelsOfSamplesDoNotMultiplyTheDuration) {
  const auto file = open("tagged.pb.gz", tagged_file(100, 3'980'000'000));
  ASSERT_EQ(file->types.size(), 1U);
  EXPECT_EQ(file->types[0].total, 100);
  EXPECT_EQ(file->types[0].samples, 100U);
  EXPECT_EQ(file->labels, (Names{"path", "service_name", "thread"}));
  EXPECT_EQ(file->range.start_ns, kNow - kMinute);
  EXPECT_EQ(file->range.end_ns, kNow - kMinute + 3'980'000'000);
  SelectRequest request;
  request.type = file->types[0].type;
  request.range = kAllTime;
  const auto selections = file->engine->select("t", request);
  ASSERT_TRUE(selections.ok());
  EXPECT_EQ(selections->front().profiles, 7U);
  EXPECT_EQ(selections->front().covered.duration_ns(), 3'980'000'000);
}

TEST_F(FileShelfTest, StopsReadingWhenNobodyWaits) {
  const std::string bytes = tagged_file(50'000, kMinute);
  uint64_t all = 0;
  ASSERT_TRUE(shelf().open("t", "whole", bytes, [&] { return ++all == 0; }).ok());
  EXPECT_GT(all, 10U) << "asked while rows are read, not only between steps";
  for (const uint64_t after : {uint64_t{1}, all / 2, all}) {
    uint64_t asked = 0;
    const auto file = shelf().open("t", "stopped", bytes, [&] { return ++asked >= after; });
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(asked, after) << "nothing is done after the first yes";
  }
  EXPECT_EQ(names(), Names{"whole"});
  EXPECT_TRUE(shelf().open("t", "stopped", bytes).ok()) << "the turn was given back";
}

TEST_F(FileShelfTest, TheSameFileIsTheSame) {
  const auto first = open("a");
  EXPECT_EQ(open("a"), first);
  EXPECT_NE(open("b")->id, first->id);
  EXPECT_NE(open("a", "main;other 1\n")->id, first->id);
  EXPECT_EQ(names(), (Names{"a", "b", "a"}));
  ASSERT_TRUE(shelf().close("t", first->id).ok());
  EXPECT_EQ(open("a")->id, first->id);
}

TEST_F(FileShelfTest, KeepsTenantsApart) {
  const auto file = open("a");
  EXPECT_EQ(names("u"), Names());
  EXPECT_EQ(shelf().find("u", file->id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(shelf().close("u", file->id).error().code, ErrorCode::kNotFound);
  EXPECT_NE(open("a", "main;work 3\n", "u"), file);
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(FileShelfTest, TheOneNotUsedForLongestGoesFirst) {
  options_.limits.count = 2;
  const auto a = open("a");
  open("b");
  ASSERT_TRUE(shelf().find("t", a->id).ok());
  open("a", "main;work 3\n", "u");
  open("c");
  EXPECT_EQ(names(), (Names{"c", "a"}));
  EXPECT_EQ(names("u"), Names{"a"});
}

TEST_F(FileShelfTest, MemoryIsBoundedForATenantAndForAll) {
  const uint64_t size = open("size")->bytes;
  shelf_ = nullptr;
  options_.limits.tenant_memory = 2 * size + 100;
  options_.limits.memory = 3 * size + 100;
  open("a");
  open("b");
  open("c");
  EXPECT_EQ(names(), (Names{"c", "b"}));
  open("d", "main;work 3\n", "u");
  EXPECT_EQ(names(), (Names{"c", "b"}));
  open("e", "main;work 3\n", "u");
  EXPECT_EQ(names(), Names{"c"});
  EXPECT_EQ(names("u"), (Names{"e", "d"}));
  std::string large;
  for (int i = 0; i < 20'000; ++i) large += fmt::format("main;work{} 1\n", i);
  EXPECT_EQ(shelf().open("t", "large", large).error().code, ErrorCode::kLimit);
  EXPECT_EQ(names(), Names{"c"});
}

TEST_F(FileShelfTest, FilesThatNobodyUsesGo) {
  const auto a = open("a");
  const auto b = open("b");
  now_ns_ += 40 * kMinute;
  ASSERT_TRUE(shelf().find("t", b->id).ok());
  now_ns_ += 40 * kMinute;
  const auto gone = shelf().find("t", a->id);
  ASSERT_FALSE(gone.ok());
  EXPECT_NE(gone.error().hint.find("open it again"), std::string::npos);
  EXPECT_EQ(names(), Names{"b"});
  // A clock that was set back does not keep them for ever.
  now_ns_ -= 600 * kMinute;
  EXPECT_EQ(names(), Names{"b"});
  now_ns_ += 61 * kMinute;
  shelf().expire();
  EXPECT_EQ(names(), Names());
  // Who still asks has it.
  EXPECT_TRUE(b->engine->series("t", {}, kAllTime).ok());
}

TEST_F(FileShelfTest, RefusesWhatIsNoProfile) {
  for (const std::string_view bytes : {"", "Dear all,\n", "{}", "\x1f\x8b"}) {
    const auto file = shelf().open("t", "x", bytes);
    ASSERT_FALSE(file.ok()) << bytes;
    EXPECT_EQ(file.error().code, ErrorCode::kInvalidInput) << file.error().message;
  }
  EXPECT_EQ(names(), Names());
}

TEST_F(FileShelfTest, LimitsOfTheTenantBoundWhatIsRead) {
  options_.tenant_limits = [](std::string_view) {
    TenantLimits limits;
    limits.max_body_bytes = 10;
    limits.max_decoded_bytes = 20;
    return limits;
  };
  EXPECT_EQ(shelf().open("t", "x", "main;work;at;something 3\n").error().code, ErrorCode::kLimit);
  EXPECT_TRUE(shelf().open("t", "x", "main;work 3\n").ok());
}

TEST_F(FileShelfTest, OpensNothingWhenSwitchedOff) {
  options_.limits.memory = 0;
  EXPECT_EQ(shelf().open("t", "x", "main 1\n").error().code, ErrorCode::kUnsupported);
}

TEST_F(FileShelfTest, NamesAreMadeFitToBeShown) {
  EXPECT_EQ(open("a\nb\x01")->name, "a b ");
  EXPECT_EQ(open("")->name, "profile");
  EXPECT_LE(open(std::string(5000, 'x'))->name.size(), 200U);
}

}  // namespace
}  // namespace vesta::server
