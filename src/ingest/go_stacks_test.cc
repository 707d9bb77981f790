#include "ingest/go_stacks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace vesta {
namespace {

class GoStacks : public ::testing::Test {
 protected:
  GoStacks() {
    profile_.sample_types.push_back({builder_.string("alloc_space"), builder_.string("bytes"), {}});
  }

  // Functions f<from> … f<to - 1>, the first being the outermost, and then `leaf`.
  void add(int from, int to, const std::string& leaf, int64_t value) {
    std::vector<LocationId> frames{builder_.frame(leaf, file_)};
    for (int i = to; i-- > from;) frames.push_back(builder_.frame(fmt::format("f{}", i), file_));
    const int64_t values[] = {value};
    profile_.add_sample(builder_.stack(frames), values);
  }
  // "outermost name+depth leaf" and the value.
  std::map<std::string, int64_t> rows() const {
    std::map<std::string, int64_t> out;
    const Samples& samples = profile_.samples;
    for (size_t row = 0; row < samples.size(); ++row) {
      const auto frames = batch_.dictionary.stacks[samples.stacks[row]];
      std::string text =
          fmt::format("{}+{} {}", name(frames.back()), frames.size(), name(frames.front()));
      for (const Label& label : batch_.dictionary.label_sets[samples.label_set(row)])
        text += fmt::format(" {}", batch_.dictionary.string(label.key));
      out[text] += samples.values[row];
    }
    return out;
  }
  std::string name(LocationId frame) const {
    const Dictionary& d = batch_.dictionary;
    return std::string(d.string(d.function(d.lines[frame].front().function).name));
  }
  int64_t total() const { return total_of(profile_, 0); }

  using Rows = std::map<std::string, int64_t>;
  std::string file_ = "main.go";
  ProfileBatch batch_;
  DictionaryBuilder builder_{batch_.dictionary};
  Profile profile_;
};

TEST_F(GoStacks, MissingCallersAreTakenFromAnotherStack) {
  add(0, 30, "alloc", 5);      // 31 frames, whole
  add(6, 37, "deep", 7);       // 32 frames, cut: f0 … f5 are missing
  add(6, 37, "deeper", 11);    // the same callers are missing
  add(100, 110, "short", 13);  // not cut
  EXPECT_EQ(repair_go_stacks(builder_, profile_), 2u);
  EXPECT_EQ(rows(), (Rows{{"f0+31 alloc", 5},
                          {"f0+38 deep stack.repaired", 7},
                          {"f0+38 deeper stack.repaired", 11},
                          {"f100+11 short", 13}}));
  EXPECT_EQ(total(), 36);
  ASSERT_EQ(profile_.losses.size(), 1u);
  EXPECT_EQ(profile_.losses[0].count, 2u);
  EXPECT_EQ(batch_.dictionary.string(profile_.losses[0].reason), kLossRepairedStack);
}

TEST_F(GoStacks, StacksLengthenEachOtherInTurn) {
  add(0, 31, "a", 1);
  add(7, 38, "b", 1);
  add(14, 45, "c", 1);
  EXPECT_EQ(repair_go_stacks(builder_, profile_), 2u);
  // c has f7 … f13 from b, which was lengthened by seven itself; a has no more than its own end.
  const Rows found = rows();
  EXPECT_EQ(found.at("f0+32 a"), 1);
  EXPECT_EQ(found.at("f0+39 b stack.repaired"), 1);
  EXPECT_EQ(found.at("f0+46 c stack.repaired"), 1);
}

TEST_F(GoStacks, TooLittleInCommonIsNoReason) {
  add(0, 30, "alloc", 5);
  add(9, 40, "deep", 7);  // nine would be missing
  EXPECT_EQ(repair_go_stacks(builder_, profile_), 0u);
  EXPECT_TRUE(profile_.losses.empty());
}

TEST_F(GoStacks, NewerRuntimesDoNotCutThere) {
  add(0, 30, "alloc", 5);
  add(6, 37, "deep", 7);
  add(200, 240, "deepest", 1);  // 41 frames
  EXPECT_EQ(repair_go_stacks(builder_, profile_), 0u);
}

TEST_F(GoStacks, OtherLanguagesAndTypesStayAsTheyAre) {
  file_ = "main.rs";
  add(0, 30, "alloc", 5);
  add(6, 37, "deep", 7);
  EXPECT_EQ(repair_go_stacks(builder_, profile_), 0u);
  builder_.frame("main.main", "main.go");
  profile_.sample_types[0].type = builder_.string("goroutine");
  EXPECT_EQ(repair_go_stacks(builder_, profile_), 0u);
  // CPU profiles are cut later.
  profile_.sample_types[0].type = builder_.string("cpu");
  EXPECT_EQ(repair_go_stacks(builder_, profile_), 0u);
}

TEST_F(GoStacks, RecursionIsLeftAlone) {
  const auto recursive = [&](size_t turns, const std::string& leaf) {
    std::vector<LocationId> frames{builder_.frame(leaf, file_)};
    for (size_t i = 0; i < turns; ++i)
      frames.push_back(builder_.frame(i % 2 == 0 ? "even" : "odd", file_));
    const int64_t values[] = {1};
    profile_.add_sample(builder_.stack(frames), values);
  };
  recursive(30, "a");
  recursive(31, "b");
  EXPECT_EQ(repair_go_stacks(builder_, profile_), 0u);
}

}  // namespace
}  // namespace vesta
