#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/common/losses.h"
#include "formats/folded/reader.h"
#include "formats/folded/writer.h"
#include "profile/dictionary_builder.h"
#include "profile/frame_name.h"

namespace vesta {
namespace {

using testing::HasSubstr;

ProfileBatch read_ok(std::string_view text, const ReadOptions& options = {}) {
  auto batch = read_folded(text, options);
  EXPECT_TRUE(batch.ok()) << batch.error().message;
  if (!batch) return {};
  EXPECT_EQ(find_inconsistency(*batch), "");
  return std::move(*batch);
}

std::string error_of(std::string_view text, const ReadOptions& options = {}) {
  const auto batch = read_folded(text, options);
  return batch.ok() ? "no error" : batch.error().message;
}

// Reads and writes again.
std::string again(std::string_view text, size_t type = 0) {
  return write_folded(read_ok(text), type);
}

uint64_t loss(const ProfileBatch& batch, std::string_view reason) {
  for (const Loss& loss : batch.profiles[0].losses) {
    if (batch.dictionary.string(loss.reason) == reason) return loss.count;
  }
  return 0;
}

TEST(Folded, ReadsStacksRootFirst) {
  const ProfileBatch batch = read_ok("main;work;sort 3\nmain 4\n");
  const Profile& profile = batch.profiles.at(0);
  ASSERT_EQ(profile.samples.size(), 2u);
  ASSERT_EQ(profile.sample_types.size(), 1u);
  EXPECT_EQ(batch.dictionary.string(profile.sample_types[0].type), "samples");
  EXPECT_EQ(batch.dictionary.string(profile.sample_types[0].unit), "count");
  const auto stack = batch.dictionary.stacks[profile.samples.stacks[0]];
  ASSERT_EQ(stack.size(), 3u);
  EXPECT_EQ(frame_name(batch.dictionary, stack[0]), "sort");
  EXPECT_EQ(frame_name(batch.dictionary, stack[2]), "main");
  EXPECT_EQ(total_of(profile, 0), 7);
}

TEST(Folded, MergesEqualStacksAndSortsLines) {
  EXPECT_EQ(again("b;x 1\na;y 2\nb;x 3\nb;zero 0\n"), "a;y 2\nb;x 4\n");
}

TEST(Folded, SkipsBlankLinesCommentsAndCarriageReturns) {
  EXPECT_EQ(again("# made by hand\r\n\r\n#\n   \na;b 2\r\n#!x\nc\t3 \n"), "a;b 2\nc 3\n");
}

TEST(Folded, KeepsNamesThatStartWithAHash) {
  EXPECT_EQ(again("#private;b 2\n"), "#private;b 2\n");
}

TEST(Folded, KeepsSpacesInsideNames) {
  EXPECT_EQ(again("std::map<int, int>::at(int const&) const;x y 2\nz 1\n"),
            "std::map<int, int>::at(int const&) const;x y 2\nz 1\n");
}

TEST(Folded, MarksKernelFrames) {
  const ProfileBatch batch = read_ok("main;read;sys_read_[k];jit_[j] 5\n");
  const auto stack = batch.dictionary.stacks[batch.profiles[0].samples.stacks[0]];
  EXPECT_EQ(frame_name(batch.dictionary, stack[0]), "jit_[j]");
  EXPECT_EQ(frame_name(batch.dictionary, stack[1]), "sys_read");
  EXPECT_EQ(batch.dictionary.location(stack[1]).kind, FrameKind::kKernel);
  EXPECT_EQ(batch.dictionary.location(stack[2]).kind, FrameKind::kUnknown);
  EXPECT_EQ(write_folded(batch), "main;read;sys_read_[k];jit_[j] 5\n");
}

TEST(Folded, CarriesFractionsFromLineToLine) {
  const ProfileBatch batch = read_ok("a 12.0\nb 0.4\nc 0.4\nd 0.4\ne 0.4\nf 0.4\n");
  EXPECT_EQ(total_of(batch.profiles[0], 0), 14);
}

TEST(Folded, ReadsDifferentialFilesAsTwoTypes) {
  const ProfileBatch batch = read_ok("main;a 10 20\nmain;b 0 5\n");
  const Profile& profile = batch.profiles[0];
  ASSERT_EQ(profile.sample_types.size(), 2u);
  EXPECT_EQ(batch.dictionary.string(profile.sample_types[0].type), "before");
  EXPECT_EQ(batch.dictionary.string(profile.sample_types[1].type), "after");
  EXPECT_EQ(total_of(profile, 0), 10);
  EXPECT_EQ(total_of(profile, 1), 25);
  EXPECT_EQ(write_folded(batch, 1), "main;a 20\nmain;b 5\n");
}

TEST(Folded, OneLineWithOneNumberMakesAFileOrdinary) {
  EXPECT_EQ(again("worker 7 10\nmain 1\n"), "main 1\nworker 7 10\n");
}

TEST(Folded, WrittenNamesThatEndInNumbersDoNotReadAsTwoColumns) {
  ProfileBatch batch;
  DictionaryBuilder builder(batch.dictionary);
  Profile profile;
  profile.sample_types.push_back({builder.string("samples"), builder.string("count")});
  const LocationId frame = builder.frame("worker 7");
  profile.add_sample(builder.stack({&frame, 1}), std::vector<int64_t>{10});
  batch.profiles.push_back(profile);
  const ProfileBatch read_back = read_ok(write_folded(batch));
  ASSERT_EQ(read_back.profiles[0].sample_types.size(), 1u);
  EXPECT_EQ(total_of(read_back.profiles[0], 0), 10);
}

TEST(Folded, BlanksAfterANumberInANameDoNotHideIt) {
  // Found by fuzzing: control characters become blanks, which the reader skips before the count.
  const std::string written = again(std::string_view("b 3\0\0 5\nx 1\0 0\n", 15));
  EXPECT_EQ(written, "b 3 5\n[unknown] 0\n");
  EXPECT_EQ(again(written), "b 3 5\n[unknown] 0\n");
}

TEST(Folded, WriterNamesWhatHasNoName) {
  ProfileBatch batch;
  DictionaryBuilder builder(batch.dictionary);
  Profile profile;
  profile.sample_types.push_back({builder.string("samples"), builder.string("count")});
  Mapping library;
  library.start = 0x7000;
  library.limit = 0x9000;
  library.file_offset = 0x100;
  library.file = builder.string("/usr/lib/libx.so");
  const MappingId mapping = builder.mapping(library);
  const std::vector<Line> inlined = {{builder.function("inner;\n"), 0, 1},
                                     {builder.function("outer"), 0, 2}};
  const std::vector<LocationId> stack = {
      builder.location({0x7010, mapping, FrameKind::kKernel, false}, inlined),
      builder.location({0x7020, mapping, FrameKind::kNative, false}, {}),
      builder.location({0xabc, {}, FrameKind::kNative, false}, {}), builder.frame("")};
  profile.add_sample(builder.stack(stack), std::vector<int64_t>{2});
  profile.add_sample({}, std::vector<int64_t>{1});
  batch.profiles.push_back(profile);
  EXPECT_EQ(write_folded(batch),
            "[unknown] 1\n[unknown];0xabc;libx.so+0x120;outer_[k];inner:_[k] 2\n");
}

TEST(Folded, WriterOfNothingWritesNothing) {
  EXPECT_EQ(write_folded({}), "");
  EXPECT_EQ(write_folded(read_ok("a 1\n"), 1), "");
  EXPECT_EQ(write_folded(read_ok("a 1\n"), 0, 1), "");
}

TEST(Folded, CountsLinesWithoutAStack) {
  const ProfileBatch batch = read_ok(" 24\nmain;work 6\nmain 1\n");
  EXPECT_EQ(total_of(batch.profiles[0], 0), 31);
  EXPECT_TRUE(looks_like_folded(" 24\nmain;work 6\nmain 1\n"));
  EXPECT_FALSE(looks_like_folded(" 24\n 25\n"));
}

TEST(Folded, ErrorsNameTheLine) {
  EXPECT_THAT(error_of("a;b 1\na;c\na;d\n"), HasSubstr("line 2: the count at the end is missing"));
  EXPECT_THAT(error_of("a;b 1\n\na;c 3x\na\n"),
              HasSubstr("line 3: the count at the end is missing"));
  EXPECT_THAT(error_of("a 1e5\n"), HasSubstr("line 1: the count at the end is missing"));
  EXPECT_THAT(error_of("12\n"), HasSubstr("line 1: the count at the end is missing"));
  EXPECT_THAT(error_of("a 9223372036854775808\n"), HasSubstr("line 1: the count overflows"));
  EXPECT_EQ(error_of("a 9223372036854775807\n"), "no error");
  EXPECT_THAT(error_of(""), HasSubstr("contains no stack"));
  EXPECT_THAT(error_of("# only a comment\n\n"), HasSubstr("line 2: the input contains no stack"));
}

TEST(Folded, RefusesTextThatIsNoProfile) {
  const std::string_view prose = "Dear reader,\nthis is a letter of 3\nlines.\n";
  EXPECT_FALSE(looks_like_folded(prose));
  const auto batch = read_folded(prose, {});
  ASSERT_FALSE(batch.ok());
  EXPECT_THAT(batch.error().message, HasSubstr("folded: line 1"));
  EXPECT_THAT(batch.error().hint, HasSubstr("main;work;sort 42"));
}

TEST(Folded, NegativeCountsAreKeptAndNoted) {
  const ProfileBatch noted = read_ok("a -3\nb 5\nc -0.5\nd -0.5\n");
  EXPECT_EQ(total_of(noted.profiles[0], 0), 1);
  EXPECT_EQ(loss(noted, kLossNegative), 3u);
  ReadOptions options;
  options.allow_negative = true;
  const ProfileBatch batch = read_ok("a -3\nb -0.5\nc -0.5\n", options);
  EXPECT_EQ(total_of(batch.profiles[0], 0), -4);
  EXPECT_EQ(loss(batch, kLossNegative), 0u);
}

TEST(Folded, ASeparatorAfterTheLastFrameIsNoFrame) {
  EXPECT_EQ(again("main (p.c);grab (p.c); 200\nmain; 1\n"), "main 1\nmain (p.c);grab (p.c) 200\n");
}

TEST(Folded, BadLinesAreCountedAndLeftOut) {
  const std::string_view text =
      "main;a 3\nmain;b\nmain;c 3x\nmain;d 4\nmain;e 9223372036854775808\nmain;f 5\nmain;wo";
  const ProfileBatch batch = read_ok("main;a 3\nmain;b\nmain;d 4\nmain;f 5\nmain;g 6\nmain;wo");
  EXPECT_EQ(write_folded(batch), "main;a 3\nmain;d 4\nmain;f 5\nmain;g 6\n");
  EXPECT_EQ(loss(batch, kLossUnparsedLine), 2u);
  // More bad lines than good ones are something else.
  EXPECT_THAT(error_of(text), HasSubstr("line 2: the count at the end is missing"));
}

TEST(Folded, BadLinesOfDifferencesLeaveThemDifferences) {
  const ProfileBatch batch = read_ok("a;b 1.5 2\nbroken\nc 3\na;d 3 4.5\n");
  EXPECT_EQ(batch.profiles[0].sample_types.size(), 1u);  // "c 3" has one number
  const ProfileBatch difference = read_ok("a;b 1 2\nbroken\na;d 3 4\n");
  ASSERT_EQ(difference.profiles[0].sample_types.size(), 2u);
  EXPECT_EQ(total_of(difference.profiles[0], 1), 6);
  EXPECT_EQ(loss(difference, kLossUnparsedLine), 1u);
}

TEST(Folded, IsRecognisedWithBadLines) {
  EXPECT_TRUE(looks_like_folded("warning: lost events\nmain;a 3\nmain;b 4\nmain;c 5\nmain 6\n"));
  EXPECT_TRUE(looks_like_folded("main;a 3\nmain;b 4\nmain;c 5\nmain;d 4\nmain;wo"));
  EXPECT_FALSE(looks_like_folded("chapter 1\nchapter 2\nthe end\nchapter 3\nchapter 4\n"));
  EXPECT_FALSE(looks_like_folded("main;a 3\nwhat\nis\nthis\n"));
}

TEST(Folded, HugeCountsSaturate) {
  const ProfileBatch batch = read_ok("a 9223372036854775807\na 9223372036854775807\n");
  EXPECT_EQ(total_of(batch.profiles[0], 0), INT64_MAX);
}

TEST(Folded, CutsDeepStacksAtTheRoot) {
  ReadOptions options;
  options.max_stack_depth = 2;
  const ProfileBatch batch = read_ok("a;b;c;d 3\nx;y 1\n", options);
  EXPECT_EQ(write_folded(batch), "c;d 3\nx;y 1\n");
  EXPECT_EQ(loss(batch, kLossStackTruncated), 1u);
}

TEST(Folded, RepairsAndCutsNames) {
  ReadOptions options;
  options.max_string_bytes = 4;
  const ProfileBatch batch = read_ok("a\xff;b 1\nlongname;\xc3\xa4\xc3\xa4\xc3\xa4 2\n", options);
  EXPECT_EQ(write_folded(batch), "a\xEF\xBF\xBD;b 1\nlong;\xc3\xa4\xc3\xa4 2\n");
  EXPECT_EQ(loss(batch, kLossInvalidUtf8), 1u);
  EXPECT_EQ(loss(batch, kLossNameTruncated), 2u);
}

TEST(Folded, HonoursLimits) {
  ReadOptions options;
  options.max_samples = 1;
  EXPECT_THAT(error_of("a 1\nb 2\n", options), HasSubstr("limit of 1"));
  options = {};
  options.max_decoded_bytes = 4;
  EXPECT_THAT(error_of("a;b 1\n", options), HasSubstr("limit of 4"));
}

TEST(Folded, EveryPrefixIsAnsweredWithAResult) {
  const std::string text = "main;work;sys_read_[k] 12.5\r\n# note\nmain;\xc3\xa4 4\n";
  for (size_t size = 0; size < text.size(); ++size) {
    const auto batch = read_folded(text.substr(0, size), {});
    if (batch.ok()) {
      EXPECT_EQ(find_inconsistency(*batch), "") << size;
    } else {
      EXPECT_THAT(batch.error().message, HasSubstr("folded: line")) << size;
    }
  }
}

TEST(Folded, IsToldFromOtherText) {
  EXPECT_TRUE(looks_like_folded("a;b 1\n"));
  EXPECT_TRUE(looks_like_folded("# x\n\na;b 1.0\nc 3"));
  EXPECT_FALSE(looks_like_folded(""));
  EXPECT_FALSE(looks_like_folded("# 3\n"));
  EXPECT_FALSE(looks_like_folded("{\"a\": 1}\n"));
  EXPECT_FALSE(looks_like_folded("a;b 1\n{"));
  EXPECT_FALSE(looks_like_folded(std::string_view("\0\1 3\n", 5)));
  EXPECT_FALSE(
      looks_like_folded("dd 29776 666709.771979:   10101010 cpu-clock: \n\t e5f70 read (/l)\n"));
  EXPECT_FALSE(looks_like_folded("goroutine profile: total 7\n7 @ 0x1 0x2\n"));
}

TEST(Folded, LooksAtTheHeadOfALongFileOnly) {
  std::string text = "a;b 1\n" + std::string(2 << 20, 'x') + " 1\n";
  EXPECT_TRUE(looks_like_folded(text));
}

}  // namespace
}  // namespace vesta
