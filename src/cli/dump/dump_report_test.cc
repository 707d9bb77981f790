#include "cli/dump/dump_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vesta::cli {
namespace {

using testing::HasSubstr;

agent::ThreadDump sample_dump() {
  agent::DumpedThread waits;
  waits.tid = 8;
  waits.name = "worker;1";
  waits.state = "sleeping";
  waits.frames = {{"do_poll", "", 0, "[kernel]", false, true},
                  {"inner", "a.c", 3, "/bin/app", true, false},
                  {"outer", "a.c", 9, "/bin/app", false, false},
                  {"app+0x12", "", 0, "/bin/app", false, false}};
  agent::DumpedThread cut = waits;
  cut.tid = 9;
  cut.name = "other";
  cut.frames.clear();
  cut.problem = "no unwind rule for the code";
  agent::ThreadDump dump;
  dump.processes = {{7, "app", "/bin/app", {waits, cut}}};
  return dump;
}

TEST(DumpReport, TextHasALineForEachFrameAndSaysWhatIsMissing) {
  const std::string text = dump_text(sample_dump(), {});
  EXPECT_THAT(text, HasSubstr("process 7 app (/bin/app), 2 threads\n"));
  EXPECT_THAT(text, HasSubstr("\nthread 8 worker;1, sleeping\n"
                              "   0  do_poll  [kernel]\n"
                              "   1  inner (inlined)  a.c:3\n"
                              "   2  outer  a.c:9\n"
                              "   3  app+0x12  [app]\n"));
  EXPECT_THAT(text, HasSubstr("[incomplete: no unwind rule for the code]\n"));
}

TEST(DumpReport, FoldedLinesCannotBePartedByNames) {
  EXPECT_EQ(dump_folded(sample_dump()),
            "app;other;[incomplete: no unwind rule for the code] 1\n"
            "app;worker:1;app+0x12;outer;inner;do_poll 1\n");
}

TEST(DumpReport, NamesFromOutsideAreSafeOnATerminal) {
  agent::ThreadDump dump = sample_dump();
  dump.processes[0].threads[0].frames[0].function = "evil\x1b[2J";
  EXPECT_EQ(dump_text(dump, {}).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace vesta::cli
