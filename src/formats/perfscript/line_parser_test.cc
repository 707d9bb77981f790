#include "formats/perfscript/line_parser.h"

#include <gtest/gtest.h>

namespace vesta::perfscript {
namespace {

TEST(PerfScriptHeader, ReadsTheDefaultFields) {
  const auto header = parse_header("dd 29776 666709.771979:   10101010 cpu-clock:uhpppp: ");
  ASSERT_TRUE(header);
  EXPECT_EQ(header->comm, "dd");
  EXPECT_FALSE(header->pid);
  EXPECT_EQ(header->tid, 29776);
  EXPECT_FALSE(header->cpu);
  EXPECT_EQ(header->time_ns, 666709'771979000);
  EXPECT_EQ(header->period, 10101010);
  EXPECT_EQ(header->event, "cpu-clock");
  EXPECT_FALSE(header->frame);
}

TEST(PerfScriptHeader, ReadsProcessThreadAndCpu) {
  const auto header = parse_header("V8 Worker: x 27409/-1 [003] 441995.133575123: cycles:P: ");
  ASSERT_TRUE(header);
  EXPECT_EQ(header->comm, "V8 Worker: x");
  EXPECT_EQ(header->pid, 27409);
  EXPECT_EQ(header->tid, -1);
  EXPECT_EQ(header->cpu, 3);
  EXPECT_EQ(header->time_ns, 441995'133575123);
  EXPECT_FALSE(header->period);
  EXPECT_EQ(header->event, "cycles");
}

TEST(PerfScriptHeader, DoesWithoutMostFields) {
  const auto no_time = parse_header("node-v011 31912 cpu-clock: ");
  ASSERT_TRUE(no_time);
  EXPECT_EQ(no_time->comm, "node-v011");
  EXPECT_EQ(no_time->tid, 31912);
  EXPECT_FALSE(no_time->period);
  EXPECT_TRUE(no_time->is_certain());

  const auto with_period = parse_header("a b 12 [001] 1000 cycles:");
  ASSERT_TRUE(with_period);
  EXPECT_EQ(with_period->comm, "a b");
  EXPECT_EQ(with_period->tid, 12);
  EXPECT_EQ(with_period->cpu, 1);
  EXPECT_EQ(with_period->period, 1000);

  const auto only_comm = parse_header("my burn x cpu-clock: ");
  ASSERT_TRUE(only_comm);
  EXPECT_EQ(only_comm->comm, "my burn x");
  EXPECT_EQ(only_comm->event, "cpu-clock");
  EXPECT_FALSE(only_comm->is_certain());

  const auto no_comm = parse_header("  12/13  5.000001:  7 cpu/cycles/ppp: ");
  ASSERT_TRUE(no_comm);
  EXPECT_EQ(no_comm->comm, "");
  EXPECT_EQ(no_comm->tid, 13);
  EXPECT_EQ(no_comm->event, "cpu/cycles/");
}

TEST(PerfScriptHeader, ReadsTheAddressOfSamplesWithoutStacks) {
  const auto header = parse_header(
      "       burn prog  7801  1917.006582:          1 page-faults:  ffffffff8175286a "
      "elf_load+0x28a "
      "([kernel.kallsyms])");
  ASSERT_TRUE(header);
  EXPECT_EQ(header->comm, "burn prog");
  ASSERT_TRUE(header->frame);
  EXPECT_EQ(header->frame->address, 0xffffffff8175286a);
  EXPECT_EQ(header->frame->symbol, "elf_load");
  EXPECT_EQ(header->frame->dso, "[kernel.kallsyms]");
}

TEST(PerfScriptHeader, LeavesTracepointArgumentsAlone) {
  const auto header = parse_header(
      "perf  9318 [000]  1932.081369: sched:sched_switch: prev_comm=perf prev_pid=9318 ==> x: y");
  ASSERT_TRUE(header);
  EXPECT_EQ(header->event, "sched:sched_switch");
  EXPECT_FALSE(header->frame);
}

TEST(PerfScriptHeader, RefusesOtherLines) {
  EXPECT_FALSE(parse_header(""));
  EXPECT_FALSE(parse_header("just some words"));
  EXPECT_FALSE(parse_header("cycles:"));
  EXPECT_FALSE(parse_header("\t 7f12 read+0x4 (/lib/libc.so.6)"));
  EXPECT_FALSE(parse_header("\t 7f12 v8::Call(int) (/lib/libc.so.6)"));
  EXPECT_FALSE(parse_header("a 1 99999999999.5: 1"));
}

TEST(PerfScriptFrame, ReadsAllShapes) {
  auto frame = parse_frame("\t          414b3b fsnotify (/lib/modules/4.1/build/vmlinux)");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->address, 0x414b3bu);
  EXPECT_EQ(frame->symbol, "fsnotify");
  EXPECT_EQ(frame->dso, "/lib/modules/4.1/build/vmlinux");

  frame = parse_frame("  dd777 v8::Call(int, char**) const+0x1f (/tmp/my prog (deleted))");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->symbol, "v8::Call(int, char**) const");
  EXPECT_EQ(frame->dso, "/tmp/my prog (deleted)");

  frame = parse_frame("\t 0 [unknown] ([unknown])");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->symbol, "");
  EXPECT_EQ(frame->dso, "");

  frame = parse_frame("\t 27304 __libc_start_main_impl+0x84 (inlined)");
  ASSERT_TRUE(frame);
  EXPECT_TRUE(frame->is_inlined);
  EXPECT_EQ(frame->symbol, "__libc_start_main_impl");

  frame = parse_frame("\t 1226 node::Start(int, char**)");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->symbol, "node::Start(int, char**)");
  EXPECT_EQ(frame->dso, "");

  frame = parse_frame("\t 7f00 Lfoo/bar;::method (/tmp/perf-12.map)");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->symbol, "Lfoo/bar;::method");

  frame = parse_frame("\t 1226");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->symbol, "");

  frame = parse_frame("1 a) (x)");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->dso, "x");
}

TEST(PerfScriptFrame, RefusesOtherLines) {
  EXPECT_FALSE(parse_frame(""));
  EXPECT_FALSE(parse_frame("main.c:12"));
  EXPECT_FALSE(parse_frame("-12 x"));
  EXPECT_FALSE(parse_frame("12345678901234567 x (y)"));
}

TEST(PerfScriptSource, ReadsFileAndLine) {
  auto source = parse_source_line("  burn.c:5");
  ASSERT_TRUE(source);
  EXPECT_EQ(source->file, "burn.c");
  EXPECT_EQ(source->line, 5);
  source = parse_source_line("  my file.h:12 (inlined)");
  ASSERT_TRUE(source);
  EXPECT_EQ(source->file, "my file.h");
  EXPECT_TRUE(parse_source_line("  ??:0")->file.empty());
  EXPECT_TRUE(parse_source_line("  ??:?")->file.empty());
  EXPECT_TRUE(parse_source_line("  libc.so.6[27249]")->file.empty());
  EXPECT_FALSE(parse_source_line("  words"));
  EXPECT_FALSE(parse_source_line("  a:b"));
}

TEST(PerfScriptEvent, LosesItsModifiers) {
  EXPECT_EQ(without_modifiers("cpu-clock:uhpppp"), "cpu-clock");
  EXPECT_EQ(without_modifiers("cycles"), "cycles");
  EXPECT_EQ(without_modifiers("sched:sched_switch"), "sched:sched_switch");
  EXPECT_EQ(without_modifiers("cpu/event=0x3c/u"), "cpu/event=0x3c/");
}

TEST(PerfScriptRecords, AreToldFromSamples) {
  EXPECT_TRUE(is_other_record("swapper 0 0.000000: PERF_RECORD_MMAP -1/0: [0xf(0x1) @ 0xf]: x y"));
  EXPECT_EQ(lost_events("perf 1 5.0: PERF_RECORD_LOST lost 12"), 12u);
  EXPECT_EQ(lost_events("perf 1 5.0: PERF_RECORD_COMM lost 12"), 0u);
}

TEST(PerfScriptKernel, IsKnownByFile) {
  for (const auto* dso :
       {"[kernel.kallsyms]", "[guest.kernel.kallsyms]", "[ext4]", "/boot/vmlinux-6.1",
        "/lib/modules/6.1/kernel/fs/ext4.ko.xz", "bpf_prog_12_x"}) {
    EXPECT_TRUE(is_kernel_dso(dso)) << dso;
  }
  for (const auto* dso : {"[vdso]", "[unknown]", "/usr/lib/libc.so.6", "[heap]", ""}) {
    EXPECT_FALSE(is_kernel_dso(dso)) << dso;
  }
}

}  // namespace
}  // namespace vesta::perfscript
