#include "agent/naming/stack_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profile/frame_name.h"

namespace vesta::agent {
namespace {

using ::testing::ElementsAre;

// Address 7 is "f7" in file /bin/7; 20 and above have an inlined callee; 99 has no name.
class NumberedNames final : public NameSource {
 public:
  bool symbolize(const CodeAddress& address, std::vector<SourceFrame>& frames) override {
    ++asked;
    if (address.address == 99) return false;
    name_ = "f" + std::to_string(address.address);
    inlined_ = "inlined" + std::to_string(address.address);
    if (address.address >= 20) frames.emplace_back().name = inlined_;
    frames.emplace_back().name = name_;
    return true;
  }
  CodePlace place(const CodeAddress& address) override {
    if (address.kind != CodeAddress::Kind::kModule) return {};
    file_ = "/bin/" + std::to_string(address.owner);
    return {file_, "b1d", 0x1000, 0x2000, 0};
  }
  FrameKind kind(const CodeAddress& address) const override {
    return address.kind == CodeAddress::Kind::kKernel ? FrameKind::kKernel : FrameKind::kNative;
  }

  int asked = 0;

 private:
  std::string name_;
  std::string inlined_;
  std::string file_;
};

class StackBuilderTest : public ::testing::Test {
 protected:
  static std::vector<CodeAddress> stack(const std::vector<uint64_t>& addresses) {
    std::vector<CodeAddress> out;
    for (const uint64_t address : addresses)
      out.push_back({address, CodeAddress::Kind::kModule, 1});
    return out;
  }
  static ResolvedSample sample(vesta_unwind_result result = VESTA_UNWIND_COMPLETE,
                               uint32_t process = 1) {
    ResolvedSample out;
    out.process = process;
    out.result = result;
    return out;
  }
  std::vector<std::string> names_of(StackId id) const {
    std::vector<std::string> names;
    for (const LocationId location : dictionary_.stacks[id]) {
      for (size_t line = 0; line < frame_count(dictionary_, location); ++line)
        names.push_back(frame_name(dictionary_, location, line));
    }
    return names;
  }

  NumberedNames names_;
  Dictionary dictionary_;
};

TEST_F(StackBuilderTest, EqualStacksAreOneAndAreNamedOnce) {
  StackBuilder builder(names_, dictionary_);
  const StackId first = builder.stack_of(sample(), stack({1, 2})).id;
  EXPECT_EQ(builder.stack_of(sample(), stack({1, 2})).id, first);
  EXPECT_EQ(names_.asked, 2);
  EXPECT_NE(builder.stack_of(sample(), stack({2, 1})).id, first);
  EXPECT_EQ(names_.asked, 2) << "places are known, whatever stack they are in";
  EXPECT_THAT(names_of(first), ElementsAre("f1", "f2"));
}

TEST_F(StackBuilderTest, InlinedFunctionsAreFramesOfOnePlace) {
  StackBuilder builder(names_, dictionary_);
  const KnownStack known = builder.stack_of(sample(), stack({20, 1}));
  EXPECT_THAT(names_of(known.id), ElementsAre("inlined20", "f20", "f1"));
  EXPECT_EQ(dictionary_.stacks[known.id].size(), 2U);
  EXPECT_EQ(known.frames, 3U);
  EXPECT_EQ(known.named_frames, 3U);
}

TEST_F(StackBuilderTest, APlaceWithoutANameIsAFrameThatHasNone) {
  StackBuilder builder(names_, dictionary_);
  const KnownStack known = builder.stack_of(sample(), stack({99, 1}));
  EXPECT_EQ(known.frames, 2U);
  EXPECT_EQ(known.named_frames, 1U);
  EXPECT_EQ(dictionary_.location(dictionary_.stacks[known.id][0]).address, 99U);
}

std::string_view cause_by_names(uint64_t detail, std::span<const std::string_view> kernel,
                                std::span<const std::string_view> user) {
  if (detail == 7) return "by detail";
  if (!user.empty() && user.front() == "f2") return "by user function";
  return !kernel.empty() && kernel.front() == "f5" ? "by function" : "unknown";
}

TEST_F(StackBuilderTest, TheCauseOfAnEventIsItsInnermostFrame) {
  StackBuilder builder(names_, dictionary_);
  StackExtras extras;
  extras.cause_of = cause_by_names;
  std::vector<CodeAddress> frames = stack({5, 1});
  frames[0].kind = CodeAddress::Kind::kKernel;
  const KnownStack known = builder.stack_of(sample(), frames, extras);
  EXPECT_EQ(known.cause, "by function");
  EXPECT_THAT(names_of(known.id), ElementsAre("[by function]", "f5", "f1"));
  EXPECT_EQ(known.frames, 2U) << "a cause is no frame of the stack";
  std::vector<CodeAddress> others = stack({5, 2, 1});
  others[0].kind = CodeAddress::Kind::kKernel;
  EXPECT_EQ(builder.stack_of(sample(), others, extras).cause, "by user function");
  // The same stack with another detail is another stack.
  ResolvedSample other = sample();
  other.detail = 7;
  EXPECT_THAT(names_of(builder.stack_of(other, frames, extras).id),
              ElementsAre("[by detail]", "f5", "f1"));
}

TEST_F(StackBuilderTest, KernelFramesTellTheCauseEvenWhereNobodyWantsToSeeThem) {
  StackBuilder builder(names_, dictionary_);
  StackExtras extras;
  extras.cause_of = cause_by_names;
  extras.with_kernel = false;
  std::vector<CodeAddress> frames = stack({5, 1});
  frames[0].kind = CodeAddress::Kind::kKernel;
  EXPECT_THAT(names_of(builder.stack_of(sample(), frames, extras).id),
              ElementsAre("[by function]", "f1"));
}

TEST_F(StackBuilderTest, WhatIsMissingOfAStackIsItsOutermostFrame) {
  StackBuilder builder(names_, dictionary_);
  EXPECT_THAT(names_of(builder.stack_of(sample(VESTA_UNWIND_TRUNCATED), stack({1})).id),
              ElementsAre("f1", "[truncated]"));
  EXPECT_THAT(names_of(builder.stack_of(sample(VESTA_UNWIND_BAD_MEMORY), stack({1})).id),
              ElementsAre("f1", "[incomplete: stack memory not readable]"));
  // Of a kernel thread nothing is missing.
  EXPECT_THAT(names_of(builder.stack_of(sample(VESTA_UNWIND_NO_USER), stack({1})).id),
              ElementsAre("f1"));
}

TEST_F(StackBuilderTest, HiddenFunctionsAreFoldedAndCounted) {
  StackBuilder builder(names_, dictionary_,
                       [](std::string_view name) { return name == "f2" || name == "inlined20"; });
  const KnownStack known = builder.stack_of(sample(), stack({20, 2, 1}));
  EXPECT_THAT(names_of(known.id), ElementsAre("f20", "f1"));
  EXPECT_EQ(known.folded_frames, 2U);
  const KnownStack nothing_left = builder.stack_of(sample(), stack({2}));
  EXPECT_THAT(names_of(nothing_left.id), ElementsAre("[filtered]"));
}

TEST_F(StackBuilderTest, CodeOfOneFileSharesAMappingAndKnowsWhatItHas) {
  StackBuilder builder(names_, dictionary_);
  builder.stack_of(sample(), stack({1, 20}));
  ASSERT_EQ(dictionary_.mappings.size(), 2U) << "the empty one and the file's";
  const Mapping& mapping = dictionary_.mappings[1];
  EXPECT_EQ(dictionary_.string(mapping.file), "/bin/1");
  EXPECT_EQ(dictionary_.string(mapping.build_id), "b1d");
  EXPECT_TRUE(mapping.has_functions);
  EXPECT_TRUE(mapping.has_inline_frames);
  EXPECT_FALSE(mapping.has_line_numbers);
}

TEST_F(StackBuilderTest, TheProgramComesFirstAndLocationsFollowIt) {
  StackBuilder builder(names_, dictionary_);
  builder.stack_of(sample(), stack({1}));
  const std::vector<CodeAddress> other = {{2, CodeAddress::Kind::kModule, 2}};
  const StackId id = builder.stack_of(sample(), other).id;
  builder.put_first("/bin/2");
  EXPECT_EQ(dictionary_.string(dictionary_.mappings[1].file), "/bin/2");
  EXPECT_EQ(dictionary_.location(dictionary_.stacks[id][0]).mapping, MappingId(1));
  builder.put_first("/bin/none");
  EXPECT_EQ(dictionary_.string(dictionary_.mappings[1].file), "/bin/2");
}

TEST_F(StackBuilderTest, ProcessesKeepTheirStacksApartUnderTheirOutermostFrame) {
  StackBuilder builder(names_, dictionary_);
  const StackId one = builder.stack_of(sample(VESTA_UNWIND_COMPLETE, 1), stack({1}), {"one"}).id;
  const StackId two = builder.stack_of(sample(VESTA_UNWIND_COMPLETE, 2), stack({1}), {"two"}).id;
  EXPECT_THAT(names_of(one), ElementsAre("f1", "one"));
  EXPECT_THAT(names_of(two), ElementsAre("f1", "two"));
}

}  // namespace
}  // namespace vesta::agent
