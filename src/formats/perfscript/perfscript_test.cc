#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/perfscript/reader.h"
#include "profile/test_profiles.h"

namespace vesta {
namespace {

using test::rows;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kText = R"(# ========
# cmdline : /usr/bin/perf record -g
# ========
#
my app 10/11 [001]   5.000000:    1000 cpu-clock:u: 
	ffffffff81000130 entry+0x76 ([kernel.kallsyms])
	           12345 read+0x5 (/lib/libc.so.6)
	            1226 inner+0x1 (inlined)
	            1226 outer+0x1 (/bin/my app)
	               0 [unknown] ([unknown])

my app 10/12 [000]   5.500000:    1000 cpu-clock:u: 
	            1300 [unknown] (/bin/my app)

my app 10/11 [001]   6.000000:       1 page-faults: 
	            1226 outer+0x1 (/bin/my app)

)";

ProfileBatch read_ok(std::string_view text, const ReadOptions& options = {}) {
  auto batch = read_perfscript(text, options);
  EXPECT_TRUE(batch.ok()) << batch.error().message;
  if (!batch) return {};
  EXPECT_EQ(find_inconsistency(*batch), "");
  return std::move(*batch);
}

std::string error_of(std::string_view text, const ReadOptions& options = {}) {
  const auto batch = read_perfscript(text, options);
  return batch.ok() ? "no error" : batch.error().message;
}

std::string labels(const ProfileBatch& batch, size_t row, size_t profile = 0) {
  std::vector<std::string> parts;
  const LabelSetId set = batch.profiles.at(profile).samples.label_set(row);
  for (const Label& label : batch.dictionary.label_sets[set]) {
    parts.push_back(std::string(batch.dictionary.string(label.key)) + "=" +
                    (label.kind == LabelKind::kNumber
                         ? std::to_string(label.number)
                         : std::string(batch.dictionary.string(label.text))));
  }
  std::ranges::sort(parts);
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " ") + part;
  return text;
}

uint64_t loss(const ProfileBatch& batch, std::string_view reason) {
  for (const Loss& loss : batch.profiles[0].losses) {
    if (batch.dictionary.string(loss.reason) == reason) return loss.count;
  }
  return 0;
}

TEST(PerfScript, MakesAProfilePerEvent) {
  const ProfileBatch batch = read_ok(kText);
  ASSERT_EQ(batch.profiles.size(), 2u);
  const Profile& clock = batch.profiles[0];
  EXPECT_EQ(batch.dictionary.string(clock.name), "cpu-clock");
  ASSERT_EQ(clock.sample_types.size(), 2u);
  EXPECT_EQ(batch.dictionary.string(clock.sample_types[0].type), "samples");
  EXPECT_EQ(batch.dictionary.string(clock.sample_types[1].type), "cpu");
  EXPECT_EQ(batch.dictionary.string(clock.sample_types[1].unit), "nanoseconds");
  EXPECT_EQ(clock.default_type, 1u);
  EXPECT_EQ(clock.period, 1000);
  EXPECT_EQ(clock.duration_ns, 500'000'000);
  EXPECT_THAT(rows(batch, 0),
              ElementsAre("[unknown];outer;inner;read;{entry} 1 1000", "my app+0x1300 1 1000"));
  EXPECT_EQ(labels(batch, 0), "comm=my app cpu=1 pid=10 tid=11");
  EXPECT_EQ(labels(batch, 1), "comm=my app cpu=0 pid=10 tid=12");
  const Profile& faults = batch.profiles[1];
  EXPECT_EQ(batch.dictionary.string(faults.sample_types[1].type), "page-faults");
  EXPECT_EQ(batch.dictionary.string(faults.sample_types[1].unit), "count");
  EXPECT_THAT(rows(batch, 1), ElementsAre("outer 1 1"));
  EXPECT_TRUE(clock.losses.empty());
}

TEST(PerfScript, InlinedFunctionsShareALocation) {
  const ProfileBatch batch = read_ok(kText);
  const auto stack = batch.dictionary.stacks[batch.profiles[0].samples.stacks[0]];
  ASSERT_EQ(stack.size(), 4u);
  EXPECT_EQ(batch.dictionary.lines[stack[2]].size(), 2u);
  // An inlined function whose caller is missing stands alone.
  const ProfileBatch alone = read_ok("a 1 5.0: x:\n\t27304 impl (inlined)\n\t10 _start (/b)\n");
  EXPECT_THAT(rows(alone), ElementsAre("_start;impl 1"));
}

TEST(PerfScript, AddsUpEqualSamplesUnlessTimesAreKept) {
  const std::string_view text =
      "a 1 5.0: 7 cycles:\n\t1 f (/b)\n\na 1 6.25: 8 cycles:\n\t1 f (/b)\n";
  const ProfileBatch merged = read_ok(text);
  EXPECT_THAT(rows(merged), ElementsAre("f 2 15"));
  EXPECT_EQ(merged.profiles[0].period, 0);  // varies
  EXPECT_EQ(merged.profiles[0].duration_ns, 1'250'000'000);
  ReadOptions options;
  options.keep_timestamps = true;
  const ProfileBatch kept = read_ok(text, options);
  EXPECT_THAT(rows(kept), ElementsAre("f 1 7", "f 1 8"));
  EXPECT_EQ(kept.profiles[0].samples.time_ns(1), 6'250'000'000);
}

TEST(PerfScript, ReadsSamplesWithoutStacks) {
  const ProfileBatch batch = read_ok(
      "         swapper     0     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x1) @ "
      "0xf]: x\n"
      "              dd  7801  1917.006558:          1 page-faults:  ffffffff8175286a "
      "elf_load+0x28a ([kernel.kallsyms])\n"
      "              dd  7801  1917.006608:          2 page-faults:      7f90150e6b70 _start+0x0 "
      "(/usr/lib/ld.so)\n"
      "              dd  7801  1917.006708: PERF_RECORD_LOST lost 3\n");
  EXPECT_THAT(rows(batch), ElementsAre("{elf_load} 1 1", "_start 1 2"));
  EXPECT_EQ(loss(batch, "lost by perf"), 3u);
  EXPECT_EQ(loss(batch, "unparsed line"), 0u);
}

TEST(PerfScript, ReadsTracepointsWithoutStacks) {
  const ProfileBatch batch = read_ok(
      "              dd  7801 [000]  1.000001: sched:sched_switch: prev_comm=dd ==> next_comm=x\n"
      "              dd  7801 [000]  1.000002: sched:sched_switch: prev_comm=dd ==> next_comm=y\n");
  EXPECT_THAT(rows(batch), ElementsAre(" 2"));
}

TEST(PerfScript, ReadsSourceLines) {
  const ProfileBatch batch = read_ok(
      "a 1 5.0: 7 cycles:\n\t1226 work+0x16 (/b)\n  burn.c:5\n\t27 [unknown] (/l)\n  l[27]\n");
  const auto stack = batch.dictionary.stacks[batch.profiles[0].samples.stacks[0]];
  ASSERT_EQ(stack.size(), 2u);
  const Line& line = batch.dictionary.lines[stack[0]][0];
  EXPECT_EQ(line.line, 5);
  EXPECT_EQ(batch.dictionary.string(batch.dictionary.function(line.function).file), "burn.c");
  EXPECT_EQ(loss(batch, "unparsed line"), 0u);
}

TEST(PerfScript, ReadsOutputWithFewFields) {
  EXPECT_THAT(rows(read_ok("my burn x cpu-clock: \n\t1226 work\n\t2724a main\n\n")),
              ElementsAre("main;work 1"));
  EXPECT_THAT(
      rows(read_ok("\n\t1226 work (/b)\n\t27 main (/b)\n\n\n\t1226 work (/b)\n\t27 main (/b)\n")),
      ElementsAre("main;work 2"));
  EXPECT_THAT(rows(read_ok("a 1 cycles:\r\n\t1226 work (/b)\r\n\r\n")), ElementsAre("work 1"));
}

TEST(PerfScript, ReadsOutputWithoutEventNames) {
  // -F comm,pid,tid,cpu,time,period,ip,sym,dso
  const ProfileBatch with_time = read_ok(
      "my app 10/11 [001] 5.000000:       7 \n\t1226 work+0x1 (/b)\n\t27 main (/b)\n\n"
      "my app 10/11 [001] 6.000000:       8 \n\t1226 work+0x1 (/b)\n\t27 main (/b)\n\n");
  EXPECT_THAT(rows(with_time), ElementsAre("main;work 2 15"));
  EXPECT_EQ(labels(with_time, 0), "comm=my app cpu=1 pid=10 tid=11");
  EXPECT_EQ(with_time.dictionary.string(with_time.profiles[0].sample_types[1].type), "events");
  EXPECT_EQ(with_time.profiles[0].duration_ns, 1'000'000'000);
  // -F comm,tid,ip,sym,dso: perf sets the command flush right.
  const std::string_view bare =
      "              dd  7801 \n\t1226 work (/b)\n\t27 main (/b)\n\n"
      "          my app  7802 [003] \n\t27 main (/b)\n\n";
  EXPECT_TRUE(looks_like_perfscript(bare));
  const ProfileBatch without_time = read_ok(bare);
  EXPECT_THAT(rows(without_time), ElementsAre("main;work 1", "main 1"));
  EXPECT_EQ(labels(without_time, 0), "comm=dd tid=7801");
  EXPECT_EQ(labels(without_time, 1), "comm=my app cpu=3 tid=7802");
  // Without stacks.
  const ProfileBatch flat = read_ok(
      "dd  7801  1917.006558:  ffffffff8175286a elf_load+0x28a ([kernel.kallsyms])\n"
      "dd  7801  1917.006608:     12     7f90150e6b70 _start+0x0 (/usr/lib/ld.so)\n"
      "dd  7801  1917.006708:  1234567 main+0x0 (/b)\n");
  EXPECT_THAT(rows(flat), ElementsAre("{elf_load} 1 0", "_start 1 12", "main 1 0"));
  EXPECT_EQ(loss(flat, "unparsed line"), 0u);
}

TEST(PerfScript, HeadersWithoutTimeOrEventNeedFrames) {
  const ProfileBatch batch =
      read_ok("page 12\n\na 1 5.0: 7 cycles:\n\t1226 work (/b)\n\nend of chapter 3\n");
  EXPECT_THAT(rows(batch), ElementsAre("work 1 7"));
  EXPECT_EQ(loss(batch, "unparsed line"), 2u);
  EXPECT_FALSE(looks_like_perfscript("page 12\npage 13\npage 14\n"));
  EXPECT_THAT(error_of("page 12\n\npage 13\n"), HasSubstr("no sample"));
}

TEST(PerfScript, ReadsTextThatLostItsIndentation) {
  const std::string_view text =
      "dd 7801 5.0: 7 cycles:\n1226 work+0x1 (/b)\ndd27 main+0x2 (/b)\n\n"
      "dd 7801 6.0: 7 cycles:\n1226 work+0x1 (/b)\ndd27 main+0x2 (/b)\n";
  EXPECT_TRUE(looks_like_perfscript(text));
  EXPECT_THAT(rows(read_ok(text)), ElementsAre("main;work 2 14"));
  // Headers deeper than frames.
  const ProfileBatch batch = read_ok(
      "        dd 7801 5.0: 7 cycles:\n  1226 work (/b)\n      27 main (/b)\n\n"
      "        dd 7801 6.0: 7 cycles:\n    1226 work (/b)\n 27 main (/b)\n");
  EXPECT_THAT(rows(batch), ElementsAre("main;work 2 14"));
  EXPECT_EQ(loss(batch, "unparsed line"), 0u);
}

TEST(PerfScript, DemanglesLinkageNames) {
  const ProfileBatch batch = read_ok(
      "a 1 5.0: 7 cycles:\n"
      "\t1 _ZN3app4sortIiEEvRSt6vectorIT_SaIS2_EE+0x12 (/b)\n"
      "\t2 _RNvNtCs1234_7mycrate3foo3bar+0x3 (/b)\n"
      "\t3 _ZN4core3ptr13drop_in_place17h0123456789abcdefE (/b)\n"
      "\t4 _Znot_a_linkage_name (/b)\n"
      "\t5 main (/b)\n");
  EXPECT_THAT(rows(batch),
              ElementsAre("main;_Znot_a_linkage_name;core::ptr::drop_in_place;mycrate::foo::bar;"
                          "app::sort<…> 1 7"));
  const auto stack = batch.dictionary.stacks[batch.profiles[0].samples.stacks[0]];
  const Function& sort = batch.dictionary.function(batch.dictionary.lines[stack[0]][0].function);
  EXPECT_EQ(batch.dictionary.string(sort.system_name), "_ZN3app4sortIiEEvRSt6vectorIT_SaIS2_EE");
}

TEST(PerfScript, KeepsJavaNames) {
  EXPECT_THAT(rows(read_ok("java 1 5.0: cycles:\n\t7f Lfoo/bar;::method (/tmp/perf-1.map)\n")),
              ElementsAre("Lfoo/bar;::method 1"));
}

TEST(PerfScript, CountsWhatItDoesNotUnderstand) {
  const ProfileBatch batch =
      read_ok("what is this\na 1 5.0: 7 cycles:\n\t1226 work (/b)\nnot a frame\n\nneither this\n");
  EXPECT_THAT(rows(batch), ElementsAre("work 1 7"));
  EXPECT_EQ(loss(batch, "unparsed line"), 3u);
}

TEST(PerfScript, RefusesTextWithoutSamples) {
  EXPECT_THAT(error_of(""), HasSubstr("perf script: line 1: the input is empty"));
  EXPECT_THAT(error_of("# ====\n\nDear reader\n"),
              HasSubstr("line 3: the input contains no sample"));
  EXPECT_THAT(error_of("main;a 3\nmain;b 4\n"), HasSubstr("no sample"));
}

TEST(PerfScript, RepairsAndCuts) {
  ReadOptions options;
  options.max_stack_depth = 1;
  options.max_string_bytes = 4;
  const ProfileBatch batch =
      read_ok("a\xff 1 5.0: 7 evt:\n\t1226 longer (/b)\n\t27 root (/b)\n", options);
  EXPECT_THAT(rows(batch), ElementsAre("long 1 7"));
  EXPECT_EQ(labels(batch, 0), "comm=a\xEF\xBF\xBD tid=1");
  EXPECT_EQ(loss(batch, kLossStackTruncated), 1u);
  EXPECT_EQ(loss(batch, kLossNameTruncated), 1u);
  EXPECT_EQ(loss(batch, kLossInvalidUtf8), 1u);
}

TEST(PerfScript, HonoursLimits) {
  ReadOptions options;
  options.max_samples = 1;
  EXPECT_THAT(error_of(kText, options), HasSubstr("limit of 1"));
  options = {};
  options.max_decoded_bytes = 10;
  EXPECT_THAT(error_of(kText, options), HasSubstr("limit of 10"));
}

TEST(PerfScript, EveryPrefixIsAnsweredWithAResult) {
  for (size_t size = 0; size < kText.size(); ++size) {
    const auto batch = read_perfscript(kText.substr(0, size), {});
    if (batch.ok()) {
      EXPECT_EQ(find_inconsistency(*batch), "") << size;
    } else {
      EXPECT_THAT(batch.error().message, HasSubstr("perf script: line")) << size;
    }
  }
}

TEST(PerfScript, IsToldFromOtherText) {
  EXPECT_TRUE(looks_like_perfscript(kText));
  EXPECT_TRUE(looks_like_perfscript("  dd 7 1.5: 1 cycles:  12 f (/b)\n"));
  EXPECT_TRUE(looks_like_perfscript("\n\t1226 work (/b)\n\t27 main (/b)\n"));
  EXPECT_TRUE(looks_like_perfscript("x 1 [000] 1.5: sched:sched_switch: a=b\n"));
  EXPECT_FALSE(looks_like_perfscript(""));
  EXPECT_FALSE(looks_like_perfscript("main;a 3\nmain;b 4\n"));
  EXPECT_FALSE(looks_like_perfscript("Dear reader: how are you\nfine\n"));
  EXPECT_FALSE(looks_like_perfscript("heap profile: 1: 2 [3: 4] @ heap/1\n 1: 2 [3: 4] @ 0x12\n"));
  EXPECT_FALSE(looks_like_perfscript("{\"a\": 1}"));
  EXPECT_FALSE(looks_like_perfscript(
      "goroutine profile: total 7\n7 @ 0x1 0x2\n#\t0x1\tmain.f+0x1\tx.go:1\n"));
}

}  // namespace
}  // namespace vesta
