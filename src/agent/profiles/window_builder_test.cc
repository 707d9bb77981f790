#include "agent/profiles/window_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include <shared/off_cpu.h>
#include "agent/naming/name_cache.h"
#include "profile/frame_name.h"

namespace vesta::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr uint64_t kPeriodNs = 10'000'000;

// An address is a function of that number: 7 is "f7"; those above 1000 are "runtime.f1001".
class NumberedNames final : public NameSource {
 public:
  bool symbolize(const CodeAddress& address, std::vector<SourceFrame>& frames) override {
    name_ = (address.address > 1000 ? "runtime.f" : "f") + std::to_string(address.address);
    frames.emplace_back().name = name_;
    return true;
  }
  CodePlace place(const CodeAddress& /*address*/) override { return {}; }
  FrameKind kind(const CodeAddress& /*address*/) const override { return FrameKind::kNative; }

 private:
  std::string name_;
};

class WindowBuilderTest : public ::testing::Test {
 protected:
  static std::optional<ProcessResource> resource_of(const SampledProcess& process) {
    if (process.name == "other") return std::nullopt;
    const bool is_command = process.name == "ls" || process.name == "cat";
    return ProcessResource{{{"process.executable.name", is_command ? process.name : ""},
                            {"process.pid", std::to_string(process.pid)},
                            {"service.name", process.name}},
                           is_command};
  }

  void add_process(uint32_t index, const std::string& name, uint64_t start_ns = 0) {
    auto process = std::make_shared<SampledProcess>();
    process->index = index;
    process->pid = 100 + index;
    process->name = name;
    process->start_ns = start_ns;
    process->executable = "/bin/" + name;
    samples_.processes.push_back(process);
  }
  void add(uint32_t process, const std::vector<uint64_t>& addresses, int count = 1,
           const char* thread = "main", vesta_unwind_result result = VESTA_UNWIND_COMPLETE) {
    for (int i = 0; i < count; ++i) {
      ResolvedSample sample;
      sample.process = process;
      sample.result = result;
      sample.values = {1, kPeriodNs};
      std::strcpy(sample.thread, thread);
      sample.first_frame = static_cast<uint32_t>(samples_.frames.size());
      sample.frame_count = static_cast<uint32_t>(addresses.size());
      for (const uint64_t address : addresses)
        samples_.frames.push_back({address, CodeAddress::Kind::kModule, 1});
      samples_.samples.push_back(sample);
    }
  }
  void hand_over() {
    builder_.add(samples_);
    samples_ = {};
  }
  ProfileBatch cut() {
    hand_over();
    ProfileBatch batch = builder_.cut({1'000, 5'000'000'000, 10'000'000'000, {kPeriodNs}});
    EXPECT_EQ(find_inconsistency(batch), "");
    return batch;
  }
  // Of 10 us, as begin_window() made it.
  ProfileBatch cut_window(uint64_t start_ns) {
    return builder_.cut({start_ns, 0, 10'000, {kPeriodNs}});
  }

  // "f1;f2 main 3": frames leaf first, thread, samples.
  static std::vector<std::string> rows_of(const ProfileBatch& batch, const Profile& profile) {
    const Dictionary& d = batch.dictionary;
    std::vector<std::string> rows;
    for (size_t row = 0; row < profile.samples.size(); ++row) {
      std::string text;
      for (const LocationId id : d.stacks[profile.samples.stacks[row]])
        text += (text.empty() ? "" : ";") + frame_name(d, id);
      for (const Label& label : d.label_sets[profile.samples.label_set(row)])
        text += " " + std::string(d.string(label.text));
      rows.push_back(text + " " + std::to_string(profile.value(row, 0)));
      EXPECT_EQ(profile.value(row, 1), profile.value(row, 0) * int64_t{kPeriodNs});
    }
    return rows;
  }
  static std::string resource_text(const ProfileBatch& batch, const Profile& profile) {
    std::map<std::string_view, std::string> values;
    for (const Label& label : batch.dictionary.label_sets[profile.resource]) {
      const bool is_number = label.kind == LabelKind::kNumber;
      values[batch.dictionary.string(label.key)] =
          is_number ? std::to_string(label.number)
                    : std::string(batch.dictionary.string(label.text));
    }
    std::string text;
    for (const auto& [name, value] : values) {
      if (!value.empty()) text += (text.empty() ? "" : " ") + value;
    }
    return text;
  }
  static std::vector<std::string> resources_of(const ProfileBatch& batch) {
    std::vector<std::string> out;
    for (const Profile& profile : batch.profiles) out.push_back(resource_text(batch, profile));
    return out;
  }
  static int64_t total_samples(const ProfileBatch& batch) {
    int64_t sum = 0;
    for (const Profile& profile : batch.profiles) sum += total_of(profile, 0);
    return sum;
  }

  NumberedNames names_;
  WindowBuilder builder_{names_, resource_of, {{"host.name", "here"}}};
  ResolvedSamples samples_;
};

TEST_F(WindowBuilderTest, OneProfileForEachProcess) {
  add_process(1, "shop");
  add_process(2, "bank");
  add(1, {1, 2}, 3);
  add(2, {1, 2}, 2, "worker");
  const ProfileBatch batch = cut();
  ASSERT_THAT(resources_of(batch), UnorderedElementsAre("101 shop", "102 bank"));
  const size_t shop = resource_text(batch, batch.profiles[0]) == "101 shop" ? 0 : 1;
  EXPECT_THAT(rows_of(batch, batch.profiles[shop]), ElementsAre("f1;f2 main 3"));
  EXPECT_THAT(rows_of(batch, batch.profiles[1 - shop]), ElementsAre("f1;f2 worker 2"));
  EXPECT_EQ(batch.profiles[0].time_ns, 5'000'000'000);
  EXPECT_EQ(batch.profiles[0].duration_ns, 10'000'000'000);
}

TEST_F(WindowBuilderTest, AWindowHasOnlyItsOwnSamples) {
  add_process(1, "shop");
  add(1, {1}, 3);
  EXPECT_EQ(total_samples(cut()), 3);
  EXPECT_THAT(cut().profiles, IsEmpty());
  add(1, {1}, 2);  // the process was told of in an earlier window
  const ProfileBatch batch = cut();
  EXPECT_EQ(total_samples(batch), 2);
  EXPECT_THAT(resources_of(batch), ElementsAre("101 shop"));
  EXPECT_EQ(builder_.samples(), 5U);
}

TEST_F(WindowBuilderTest, ProcessesThatComeAndGoWithinAWindowAreOneForEachProgram) {
  add_process(1, "cc1", 2'000);
  add_process(2, "cc1", 3'000);
  add_process(3, "cc1", 10);     // was there before
  add_process(4, "cc1", 4'000);  // goes on
  for (uint32_t i = 1; i <= 4; ++i) add(i, {1}, static_cast<int>(i));
  samples_.ended = {1, 2, 3};
  const ProfileBatch batch = cut();
  EXPECT_THAT(resources_of(batch), UnorderedElementsAre("cc1", "103 cc1", "104 cc1"));
  EXPECT_EQ(total_samples(batch), 10);
}

TEST_F(WindowBuilderTest, ShortCommandsAreOneServiceWithTheirProgramsApart) {
  add_process(1, "ls", 2'000);
  add_process(2, "cat", 2'000);
  add_process(3, "ls", 3'000);
  add_process(4, "cat", 500);  // longer than the window
  for (uint32_t process = 1; process <= 4; ++process) add(process, {1}, 1);
  samples_.ended = {1, 2, 3, 4};
  const ProfileBatch batch = cut();
  EXPECT_THAT(resources_of(batch), UnorderedElementsAre("ls short-lived commands",
                                                        "cat short-lived commands", "cat 104 cat"));
  EXPECT_EQ(total_samples(batch), 4);
}

TEST_F(WindowBuilderTest, AProcessHasTheNameThatIsKnownWithItsLastSample) {
  int asked = 0;
  WindowBuilder builder(
      names_,
      [&](const SampledProcess& /*process*/) {
        const bool is_preliminary = ++asked < 3;
        return ProcessResource{
            {{"service.name", is_preliminary ? "java" : "checkout"}}, false, is_preliminary};
      },
      {});
  add_process(1, "java");
  for (int i = 0; i < 3; ++i) add(1, {1});
  builder.add(samples_);
  const ProfileBatch batch = builder.cut({0, 0, 10'000, {kPeriodNs}});
  ASSERT_EQ(batch.profiles.size(), 1U);
  EXPECT_EQ(resource_text(batch, batch.profiles[0]), "checkout");
  EXPECT_EQ(asked, 3);  // and then no more
}

TEST_F(WindowBuilderTest, OtherProcessesAreCountedButNotShown) {
  add_process(1, "shop");
  add_process(2, "other");
  add(1, {1}, 3);
  add(2, {1}, 4);
  EXPECT_EQ(total_samples(cut()), 3);
  EXPECT_EQ(builder_.samples(), 7U);
  EXPECT_EQ(builder_.other_samples(), 4U);
}

TEST_F(WindowBuilderTest, HiddenFunctionsAreFoldedIntoTheirCallers) {
  builder_.set_filters({*FrameFilter::compile({"runtime\\..*"}), 1});
  (void)cut();
  add_process(1, "shop");
  add(1, {1001, 1, 1002, 2}, 3);
  add(1, {1, 2}, 2);
  add(1, {1001, 1002});
  const ProfileBatch batch = cut();
  EXPECT_THAT(rows_of(batch, batch.profiles[0]),
              UnorderedElementsAre("f1;f2 main 5", "[filtered] main 1"));
  ASSERT_EQ(batch.profiles[0].losses.size(), 1U);
  EXPECT_EQ(batch.profiles[0].losses[0].count, 8U);
}

TEST_F(WindowBuilderTest, RareStacksAreAddedUpAndTotalsStayTrue) {
  builder_.set_filters({{}, 3});
  (void)cut();
  add_process(1, "shop");
  add(1, {1}, 2, "a");
  add(1, {1}, 2, "b");  // four together
  add(1, {2}, 2);
  add(1, {3}, 1);
  const ProfileBatch batch = cut();
  EXPECT_THAT(rows_of(batch, batch.profiles[0]),
              UnorderedElementsAre("f1 a 2", "f1 b 2", "[filtered: fewer than 3 samples] main 3"));
}

TEST_F(WindowBuilderTest, LostEventsArePartOfTheTotals) {
  add_process(1, "shop");
  add(1, {1}, 2);
  samples_.lost.push_back({0, "sample ring full", 5, 0});
  const ProfileBatch batch = cut();
  EXPECT_EQ(total_samples(batch), 7);
  ASSERT_EQ(batch.profiles.size(), 2U);
  const Profile& lost = batch.profiles.back();
  EXPECT_EQ(resource_text(batch, lost), "here unattributed");
  EXPECT_THAT(rows_of(batch, lost), ElementsAre("[lost: sample ring full] 5"));
  EXPECT_THAT(cut().profiles, IsEmpty());
}

TEST_F(WindowBuilderTest, SamplesAreInTheWindowInWhichTheyWereTaken) {
  add_process(1, "shop");
  builder_.begin_window(10'000);
  builder_.begin_window(20'000);
  for (const uint64_t time_ns : {25'000, 5'000, 12'000, 9'999, 10'000, 15'000}) {
    add(1, {1});
    samples_.samples.back().time_ns = time_ns;
  }
  samples_.lost = {{0, "sample ring full", 4, 11'000}, {0, "sample ring full", 1, 19'000}};
  hand_over();
  EXPECT_EQ(builder_.open_windows(), 3U);
  EXPECT_EQ(total_samples(cut_window(0)), 2);
  // Late, but it is not cut yet.
  add(1, {1});
  samples_.samples.back().time_ns = 19'000;
  hand_over();
  EXPECT_EQ(total_samples(cut_window(10'000)), 4 + 5);
  EXPECT_EQ(builder_.strays(), 0U);
  EXPECT_EQ(total_samples(cut_window(20'000)), 1);
}

TEST_F(WindowBuilderTest, ASampleWhoseWindowIsGoneIsCounted) {
  add_process(1, "shop");
  builder_.begin_window(10'000);
  (void)cut_window(0);
  add(1, {1});
  samples_.samples.back().time_ns = 5'000;
  hand_over();
  EXPECT_EQ(builder_.strays(), 1U);
  EXPECT_EQ(total_samples(cut_window(10'000)), 1);
}

TEST_F(WindowBuilderTest, AProcessThatGoesOnInTheNextWindowKeepsItsIdInBoth) {
  add_process(1, "cc1", 2'000);
  builder_.begin_window(10'000);
  for (const uint64_t time_ns : {5'000, 15'000}) {
    add(1, {1});
    samples_.samples.back().time_ns = time_ns;
  }
  samples_.ended = {1};
  samples_.complete_until_ns = 16'000;
  hand_over();
  EXPECT_THAT(resources_of(cut_window(0)), ElementsAre("101 cc1"));
  EXPECT_THAT(resources_of(cut_window(10'000)), ElementsAre("101 cc1"));
}

TEST_F(WindowBuilderTest, StacksThatCannotBeNamedInTimeAreSentAsAddressesInTheirWindow) {
  // A name takes a second of a clock that nothing else moves.
  uint64_t now_ns = 0;
  class SlowNames final : public NameSource {
   public:
    explicit SlowNames(uint64_t& now_ns) : now_ns_(now_ns) {}
    bool symbolize(const CodeAddress& /*address*/, std::vector<SourceFrame>& frames) override {
      now_ns_ += 1'000'000'000;
      frames.emplace_back().name = "named";
      return true;
    }
    CodePlace place(const CodeAddress& /*address*/) override { return {}; }
    FrameKind kind(const CodeAddress& /*address*/) const override { return FrameKind::kNative; }

   private:
    uint64_t& now_ns_;
  } slow(now_ns);
  NameCache cache(slow, 1 << 20, [&] { return now_ns; });
  WindowBuilderOptions options;
  options.naming_grace_ns = 3'000'000'000;
  WindowBuilder builder(cache, resource_of, {}, options);
  builder.begin_window(10'000);
  add_process(1, "shop");
  for (uint64_t i = 1; i <= 10; ++i) {
    add(1, {i});
    samples_.samples.back().time_ns = i <= 5 ? i : 10'000 + i;
  }
  builder.add(samples_);
  EXPECT_LE(now_ns, 4'000'000'000U);
  int64_t samples = 0;
  uint64_t late = 0;
  for (const uint64_t start_ns : {0, 10'000}) {
    const ProfileBatch batch = builder.cut({start_ns, 0, 10'000, {kPeriodNs}});
    EXPECT_EQ(total_samples(batch), 5);
    samples += total_samples(batch);
    for (const Profile& profile : batch.profiles) {
      for (const Loss& loss : profile.losses) {
        EXPECT_EQ(batch.dictionary.string(loss.reason), ProfileBuilder::kLate);
        late += loss.count;
      }
    }
  }
  EXPECT_EQ(samples, 10);
  EXPECT_GE(late, 6U);
  EXPECT_EQ(late, builder.late_stacks());
}

TEST_F(WindowBuilderTest, StacksThatAreNotWholeAreMarkedAndCounted) {
  add_process(1, "shop");
  add(1, {1}, 2, "main", VESTA_UNWIND_NO_RULE);
  add(1, {1}, 1);
  const ProfileBatch batch = cut();
  EXPECT_EQ(batch.profiles[0].losses.size(), 1U);
  EXPECT_EQ(batch.profiles[0].losses[0].count, 2U);
  const StackCoverage& coverage = builder_.coverage().at("/bin/shop");
  EXPECT_EQ(coverage.samples, 3U);
  EXPECT_EQ(coverage.complete_stacks, 1U);
}

TEST_F(WindowBuilderTest, ViewsAreMadeOfWhatEachWindowHas) {
  const std::vector<ProbeRequest> wanted = {request_probe(*find_probe("wall"))};
  ProbePlan plan = plan_probes(wanted);
  WindowBuilderOptions options;
  options.probes = std::move(plan.probes);
  options.profiles = std::move(plan.profiles);
  WindowBuilder builder(names_, resource_of, {{"host.name", "here"}}, options);
  add_process(1, "shop");
  add(1, {1, 2}, 3);
  add(1, {4, 2});
  samples_.samples.back().probe = 1;
  samples_.samples.back().detail = vesta_wait_detail(230, VESTA_WAIT_INTERRUPTIBLE, 0);
  samples_.lost = {{1, "sample ring full", 2, 0, 2 * kPeriodNs}};
  builder.add(samples_);
  const ProfileBatch batch = builder.cut({1'000, 0, 10'000, {kPeriodNs, kPeriodNs}});
  EXPECT_EQ(find_inconsistency(batch), "");
  ASSERT_EQ(batch.profiles.size(), 2U) << "of the process, and of what was lost";
  EXPECT_THAT(rows_of(batch, batch.profiles[0]),
              ElementsAre("f1;f2 main running 3", "[sleep];f4;f2 main sleep sleep 1"));
  EXPECT_THAT(rows_of(batch, batch.profiles[1]), ElementsAre("[lost: sample ring full] 2"));
  for (const Profile& profile : batch.profiles)
    EXPECT_EQ(batch.dictionary.string(profile.name), "wall");
}

TEST_F(WindowBuilderTest, CoverageIsKeptOfAThousandProgramsAndOfTheRest) {
  for (uint32_t i = 1; i <= 1500; ++i) {
    add_process(i, "p" + std::to_string(i));
    add(i, {1});
  }
  (void)cut();
  EXPECT_LE(builder_.coverage().size(), 1001U);
  EXPECT_EQ(builder_.coverage().at("other").samples, 500U);
}

TEST(FrameFilter, PatternsStandForWholeNames) {
  const FrameFilter filter = *FrameFilter::compile({"runtime.*", "java\\.lang\\..*"});
  EXPECT_TRUE(filter.matches("runtime.mallocgc"));
  EXPECT_TRUE(filter.matches("java.lang.Object.wait"));
  EXPECT_FALSE(filter.matches("main.runtime"));
  EXPECT_FALSE(FrameFilter().matches("anything"));
}

TEST(FrameFilter, SaysWhichPatternIsNone) {
  const auto filter = FrameFilter::compile({"fine", "a(b"});
  ASSERT_FALSE(filter.ok());
  EXPECT_NE(filter.error().message.find("a(b"), std::string::npos);
}

}  // namespace
}  // namespace vesta::agent
