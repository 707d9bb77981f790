#include "agent/process/process_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <filesystem>

#include "agent/process/test_proc.h"

namespace vesta::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kSecond = 1'000'000'000;

class ProcessTableTest : public ::testing::Test {
 protected:
  ProcessTableTest() : registry_({.proc_root = proc_.root()}) { make_table({}); }

  void make_table(ProcessTableOptions options) {
    options.proc_root = proc_.root();
    options.clock = [this] { return now_; };
    table_ = std::make_unique<ProcessTable>(registry_, options);
  }

  void fork(uint32_t pid, uint32_t parent, uint64_t time_ns) {
    table_->apply(ForkEvent{time_ns, pid, pid, parent, parent});
  }
  void thread(uint32_t pid, uint32_t tid, uint64_t time_ns) {
    table_->apply(ForkEvent{time_ns, pid, tid, pid, pid});
  }
  void exec(uint32_t pid, std::string_view name, uint64_t time_ns) {
    table_->apply(CommEvent{time_ns, pid, pid, true, name});
  }
  void exit(uint32_t pid, uint32_t tid, uint64_t time_ns) {
    table_->apply(ExitEvent{time_ns, pid, tid});
  }
  void mmap(uint32_t pid, uint64_t start, uint64_t end, std::string_view path, uint64_t time_ns,
            uint64_t offset = 0) {
    MmapEvent event;
    event.time_ns = time_ns;
    event.pid = event.tid = pid;
    event.address = start;
    event.length = end - start;
    event.file_offset = offset;
    event.prot = PROT_READ | PROT_EXEC;
    event.path = path;
    table_->apply(event);
  }
  std::string_view name_at(uint32_t pid, uint64_t address, uint64_t time_ns) {
    const CodeMapping* found = table_->find(pid, address, time_ns);
    return found == nullptr ? std::string_view() : found->name;
  }

  TestProc proc_;
  uint64_t now_ = 1000 * kSecond;
  ModuleRegistry registry_;
  std::unique_ptr<ProcessTable> table_;
};

TEST_F(ProcessTableTest, AnExecStartsAnotherAddressSpace) {
  fork(10, 1, 100);
  exec(10, "one", 200);
  mmap(10, 0x1000, 0x2000, "[one]", 210);
  exec(10, "two", 300);
  mmap(10, 0x1000, 0x2000, "[two]", 310);
  EXPECT_EQ(name_at(10, 0x1500, 205), "");
  EXPECT_EQ(name_at(10, 0x1500, 299), "[one]");
  EXPECT_EQ(name_at(10, 0x1500, 305), "");
  EXPECT_EQ(name_at(10, 0x1500, 400), "[two]");
  EXPECT_EQ(table_->process(10)->comm, "two");
}

TEST_F(ProcessTableTest, AForkedChildHasItsParentsCodeUntilEitherChangesIt) {
  fork(10, 1, 100);
  exec(10, "parent", 110);
  mmap(10, 0x1000, 0x2000, "[shared]", 120);
  fork(11, 10, 200);
  mmap(10, 0x1000, 0x2000, "[parent]", 300);
  mmap(11, 0x3000, 0x4000, "[child]", 300);
  EXPECT_EQ(name_at(11, 0x1500, 400), "[shared]");
  EXPECT_EQ(name_at(10, 0x1500, 400), "[parent]");
  EXPECT_EQ(name_at(10, 0x3500, 400), "");
  EXPECT_EQ(name_at(11, 0x3500, 400), "[child]");
  EXPECT_EQ(table_->process(11)->comm, "parent");
  EXPECT_EQ(table_->process(11)->parent, 10);
}

TEST_F(ProcessTableTest, AForkToldLateGivesTheMappingsOfItsTime) {
  fork(10, 1, 100);
  exec(10, "parent", 110);
  mmap(10, 0x1000, 0x2000, "[old]", 120);
  mmap(10, 0x1000, 0x2000, "[new]", 300);
  fork(11, 10, 200);
  EXPECT_EQ(name_at(11, 0x1500, 250), "[old]");
  EXPECT_EQ(name_at(11, 0x1500, 400), "[old]");
}

TEST_F(ProcessTableTest, AProcessIsKnownForAWhileAfterItsEnd) {
  fork(10, 1, 100);
  exec(10, "brief", 110);
  mmap(10, 0x1000, 0x2000, "[code]", 120);
  exit(10, 10, 200);
  EXPECT_EQ(name_at(10, 0x1500, 150), "[code]");
  EXPECT_EQ(table_->process(10)->exit_ns, 200);
  fork(11, 1, 11 * kSecond);
  EXPECT_EQ(table_->process(10), nullptr);
  EXPECT_EQ(table_->size(), 1);
}

TEST_F(ProcessTableTest, AnIdUsedAgainIsAnotherProcess) {
  fork(10, 1, 100);
  exec(10, "first", 110);
  mmap(10, 0x1000, 0x2000, "[first]", 120);
  exit(10, 10, 200);
  fork(10, 1, 300);
  exec(10, "second", 310);
  mmap(10, 0x1000, 0x2000, "[second]", 320);
  EXPECT_EQ(name_at(10, 0x1500, 150), "[first]");
  EXPECT_EQ(name_at(10, 0x1500, 350), "[second]");
  EXPECT_EQ(table_->sampled(10, 150)->comm, "first");
  EXPECT_EQ(table_->process(10)->comm, "second");
}

TEST_F(ProcessTableTest, AProcessLivesAsLongAsAnyOfItsThreads) {
  fork(10, 1, 100);
  thread(10, 11, 110);
  exit(10, 10, 200);
  EXPECT_EQ(table_->process(10)->exit_ns, kStillAlive);
  exit(10, 11, 300);
  EXPECT_EQ(table_->process(10)->exit_ns, 300);
}

// /proc was read when it had ended already, and its news come after that.
TEST_F(ProcessTableTest, AThreadThatWasNotCountedAnyMoreDoesNotEndItsProcess) {
  fork(10, 1, 100);
  exit(10, 11, 150);
  EXPECT_EQ(table_->process(10)->exit_ns, kStillAlive);
  thread(10, 12, 160);
  exit(10, 12, 170);
  exit(10, 13, 180);
  EXPECT_EQ(table_->process(10)->exit_ns, kStillAlive);
  exit(10, 10, 200);
  EXPECT_EQ(table_->process(10)->exit_ns, 200);
}

TEST_F(ProcessTableTest, TellsOnceWhatChangedAndWhoIsGone) {
  std::vector<uint32_t> changed;
  std::vector<uint32_t> gone;
  fork(10, 1, 100);
  exec(10, "x", 110);
  mmap(10, 0x1000, 0x2000, "[code]", 120);
  fork(11, 1, 130);
  exit(11, 11, 140);
  table_->take_changes(changed, gone);
  EXPECT_THAT(changed, ElementsAre(10));
  EXPECT_THAT(gone, ElementsAre(11));
  const uint64_t version = table_->mappings(10).version;
  mmap(10, 0x1000, 0x2000, "[code]", 150);  // the same again
  table_->take_changes(changed, gone);
  EXPECT_THAT(changed, IsEmpty());
  EXPECT_THAT(gone, IsEmpty());
  EXPECT_EQ(table_->mappings(10).version, version);
  mmap(10, 0x2000, 0x3000, "[more]", 160);
  EXPECT_NE(table_->mappings(10).version, version);
  EXPECT_EQ(table_->mappings(10).mappings.size(), 2);
}

TEST_F(ProcessTableTest, ScansWhatWasThereBefore) {
  const std::string self = std::filesystem::canonical("/proc/self/exe");
  proc_.add(20, 1, "old (one)",
            maps_line(0x400000, 0x401000, 0, self) +
                "500000-501000 rw-p 0 0:0 0 \n"
                "600000-601000 rwxp 0 0:0 0 \n");
  table_->scan();
  ASSERT_NE(table_->process(20), nullptr);
  EXPECT_EQ(table_->process(20)->comm, "old (one)");
  const auto snapshot = table_->mappings(20);
  ASSERT_EQ(snapshot.mappings.size(), 2);
  EXPECT_EQ(snapshot.mappings[0].name, self);
  ASSERT_TRUE(snapshot.mappings[0].module);
  EXPECT_FALSE(registry_.module(snapshot.mappings[0].module)->build_id().empty());
  EXPECT_FALSE(snapshot.mappings[1].module);
  EXPECT_EQ(snapshot.mappings[1].name, "//anon");
  EXPECT_EQ(name_at(20, 0x400500, 5), self);
  EXPECT_EQ(table_->process(20)->cgroup, "0::/test.slice\n");
  EXPECT_EQ(table_->process(20)->uid, 1000);
  EXPECT_EQ(table_->process(20)->ns_pid, 5);
}

TEST_F(ProcessTableTest, AnUnknownAddressIsLookedUpAtALimitedRate) {
  proc_.add(20, 1, "x", "1000-2000 r-xp 0 0:0 0 [one]\n");
  table_->scan();
  EXPECT_EQ(name_at(20, 0x1500, now_), "[one]");
  const uint64_t before = table_->counters().rescans;
  now_ += kSecond;
  EXPECT_EQ(name_at(20, 0x5500, now_), "");
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(name_at(20, 0x5500, now_), "");
  EXPECT_EQ(table_->counters().rescans, before + 1);
  proc_.set_maps(20, "1000-2000 r-xp 0 0:0 0 [one]\n5000-6000 r-xp 0 0:0 0 [two]\n");
  now_ += kSecond;
  EXPECT_EQ(name_at(20, 0x5500, now_ - kSecond / 2), "[two]");
  // With nothing new the pauses grow, but not without end.
  const uint64_t start = table_->counters().rescans;
  for (int i = 0; i < 1000; ++i) {
    now_ += kSecond / 10;
    name_at(20, 0x9500, now_);
  }
  const uint64_t used = table_->counters().rescans - start;
  EXPECT_GE(used, 10);
  EXPECT_LE(used, 20);
}

TEST_F(ProcessTableTest, AProcessNobodyToldOfIsFoundInProc) {
  proc_.add(20, 1, "late", "1000-2000 r-xp 0 0:0 0 [code]\n");
  EXPECT_EQ(name_at(20, 0x1500, now_), "[code]");
  EXPECT_EQ(name_at(21, 0x1500, now_), "");
  EXPECT_EQ(table_->counters().unknown_process, 1);
}

TEST_F(ProcessTableTest, AnIdUsedAgainWithoutAWordIsNoticed) {
  fork(20, 1, now_ - 100);
  exec(20, "first", now_ - 90);
  mmap(20, 0x1000, 0x2000, "[first]", now_ - 80);
  exit(20, 20, now_ - 50);
  proc_.add(20, 1, "second", "1000-2000 r-xp 0 0:0 0 [second]\n");
  EXPECT_EQ(name_at(20, 0x1500, now_), "[second]");
  EXPECT_EQ(name_at(20, 0x1500, now_ - 60), "[first]");
}

TEST_F(ProcessTableTest, LossesMakeItLookAgain) {
  proc_.add(20, 1, "x", "1000-2000 r-xp 0 0:0 0 [one]\n");
  proc_.add(21, 1, "y", "1000-2000 r-xp 0 0:0 0 [one]\n");
  table_->scan();
  EXPECT_EQ(name_at(20, 0x1500, now_), "[one]");
  now_ += kSecond;
  proc_.add(20, 1, "other", "1000-2000 r-xp 0 0:0 0 [two]\n");
  proc_.remove(21);
  EXPECT_EQ(name_at(20, 0x1500, now_), "[one]");  // nobody told
  table_->apply(LostEvent{now_, 3});
  EXPECT_EQ(name_at(20, 0x1500, now_), "[two]");
  EXPECT_EQ(name_at(20, 0x1500, now_ - 1), "[one]");
  EXPECT_EQ(table_->process(20)->comm, "other");
  table_->maintain();
  EXPECT_NE(table_->process(21)->exit_ns, kStillAlive);
  EXPECT_EQ(table_->counters().exits_noticed_late, 1);
}

TEST_F(ProcessTableTest, AProcessThatEndsWhileItIsScannedKeepsItsName) {
  proc_.add(20, 1, "dying", "");
  table_->scan();  // no mappings any more: its memory has gone already
  ASSERT_NE(table_->process(20), nullptr);
  EXPECT_EQ(table_->process(20)->comm, "dying");
  EXPECT_THAT(table_->mappings(20).mappings, IsEmpty());
  proc_.remove(20);
  now_ += kSecond;
  EXPECT_EQ(name_at(20, 0x1500, now_), "");
}

TEST_F(ProcessTableTest, AForkOfAProcessNotReadYetReadsTheParent) {
  proc_.add(20, 1, "server", "1000-2000 r-xp 0 0:0 0 [code]\n");
  make_table({.eager_scan_ns = 0});
  table_->scan();
  fork(21, 20, now_ + 1);
  exit(21, 21, now_ + 10);
  EXPECT_EQ(name_at(21, 0x1500, now_ + 5), "[code]");
}

TEST_F(ProcessTableTest, EventsOlderThanTheScanChangeNothing) {
  proc_.add(20, 1, "x", "1000-2000 r-xp 0 0:0 0 [code]\n");
  table_->scan();
  fork(20, 1, now_ - 100);
  mmap(20, 0x1000, 0x2000, "[code]", now_ - 50);
  EXPECT_EQ(table_->size(), 1);
  EXPECT_EQ(table_->process(20)->parent, 1);
  EXPECT_EQ(table_->mappings(20).mappings.size(), 1);
}

TEST_F(ProcessTableTest, AProcessThatExecsInALoopStaysSmall) {
  fork(10, 1, 100);
  for (uint64_t i = 1; i <= 10'000; ++i) {
    exec(10, "loop", 100 + i * 100);
    for (uint64_t m = 0; m < 5; ++m) {
      mmap(10, 0x1000 * (m + 1), 0x1000 * (m + 2), "[code]", 110 + i * 100 + m);
    }
  }
  EXPECT_EQ(table_->size(), 1);
  EXPECT_LT(table_->memory_bytes(), 20'000);
  EXPECT_EQ(name_at(10, 0x1500, 100 + 10'000 * 100 + 50), "[code]");
}

TEST_F(ProcessTableTest, TenThousandProcessesStaySmall) {
  const std::string self = std::filesystem::canonical("/proc/self/exe");
  std::string maps;
  for (uint64_t i = 1; i <= 10; ++i) maps += maps_line(i << 20, (i << 20) + 4096, 0, self);
  for (uint32_t pid = 1; pid <= 5'000; ++pid) proc_.add(pid, 1, "many", maps);
  make_table({.eager_scan_ns = UINT64_MAX});
  table_->scan();
  for (uint32_t pid = 5'001; pid <= 10'000; ++pid) fork(pid, pid - 5'000, now_ + pid);
  EXPECT_EQ(table_->size(), 10'000);
  EXPECT_EQ(registry_.size(), 1);
  EXPECT_EQ(name_at(1, (3 << 20) + 8, now_), self);
  EXPECT_EQ(name_at(7'000, (3 << 20) + 8, now_ + kSecond), self);
  EXPECT_LT(table_->memory_bytes(), 20'000'000);
  for (uint32_t pid = 1; pid <= 10'000; ++pid) exit(pid, pid, now_ + kSecond);
  now_ += 20 * kSecond;
  table_->maintain();
  EXPECT_EQ(table_->size(), 0);
}

TEST_F(ProcessTableTest, TheNumberOfProcessesIsBounded) {
  make_table({.max_processes = 100});
  for (uint32_t pid = 2; pid < 1000; ++pid) {
    fork(pid, 1, pid);
    if (pid % 2 == 0) exit(pid, pid, pid);
  }
  EXPECT_LE(table_->size(), 100);
  EXPECT_GT(table_->counters().processes_refused, 0);
}

TEST_F(ProcessTableTest, TheNumberOfMappingsIsBounded) {
  std::string maps;
  for (uint64_t i = 1; i <= 1000; ++i) {
    maps += fmt::format("{:x}-{:x} r-xp 0 0:0 0 [code]\n", i << 12, (i + 1) << 12);
  }
  proc_.add(20, 1, "many", maps);
  make_table({.mappings = {.max_alive = 100, .max_dead = 10}});
  table_->scan();
  EXPECT_EQ(table_->mappings(20).mappings.size(), 100);
  EXPECT_EQ(table_->counters().mappings_refused, 900);
}

TEST_F(ProcessTableTest, AHundredThousandMappingsStaySmall) {
  std::string maps;
  for (uint64_t i = 1; i <= 100'000; ++i) {
    maps += fmt::format("{:x}-{:x} r-{}p 00000000 00:00 0 \n", i << 12, (i + 1) << 12,
                        i % 2 == 0 ? 'x' : '-');
  }
  proc_.add(20, 1, "jit", maps);
  table_->scan();
  EXPECT_EQ(table_->mappings(20).mappings.size(), 50'000);
  EXPECT_EQ(name_at(20, (70'000 << 12) + 5, now_), "//anon");
  EXPECT_EQ(name_at(20, (70'001 << 12) + 5, now_), "");
  EXPECT_LT(table_->memory_bytes(), 10'000'000);
}

TEST_F(ProcessTableTest, AForkOfAProcessNobodyToldOfReadsTheParent) {
  proc_.add(20, 1, "server", "1000-2000 r-xp 0 0:0 0 [code]\n");
  fork(21, 20, now_ + 1);
  exit(21, 21, now_ + 10);
  EXPECT_EQ(name_at(21, 0x1500, now_ + 5), "[code]");
  EXPECT_EQ(table_->process(21)->comm, "server");
}

TEST_F(ProcessTableTest, AnExecByAThreadThatIsNotTheFirstGoesOn) {
  fork(10, 1, 100);
  exec(10, "old", 110);
  mmap(10, 0x1000, 0x2000, "[old]", 120);
  thread(10, 11, 130);
  exit(10, 10, 200);  // the kernel ends all others, the first thread too, and gives its id on
  exec(10, "new", 210);
  mmap(10, 0x1000, 0x2000, "[new]", 220);
  EXPECT_EQ(table_->process(10)->exit_ns, kStillAlive);
  EXPECT_EQ(name_at(10, 0x1500, 150), "[old]");
  EXPECT_EQ(name_at(10, 0x1500, 250), "[new]");
  exit(10, 10, 300);
  EXPECT_EQ(table_->process(10)->exit_ns, 300);
}

TEST_F(ProcessTableTest, WhatAShellStartsIsTakenToBeWhereTheShellIs) {
  proc_.add(5, 1, "bash", "");
  table_->scan();
  for (uint32_t pid = 100; pid < 260; ++pid) {
    const uint64_t time_ns = now_ + uint64_t{pid} * kSecond;
    proc_.add(pid, 5, "ls", "");
    fork(pid, 5, time_ns);
    exec(pid, "ls", time_ns + 1);
    EXPECT_EQ(table_->process(pid)->cgroup, "0::/test.slice\n");
    exit(pid, pid, time_ns + 2);
    proc_.remove(pid);
  }
  EXPECT_LE(table_->counters().details_read, 1U + 8U + 160U / 16U);
}

TEST_F(ProcessTableTest, WhatIsSampledIsNotTakenOnTrust) {
  proc_.add(5, 1, "bash", "");
  table_->scan();
  for (uint32_t pid = 100; pid < 120; ++pid) {
    const uint64_t time_ns = now_ + uint64_t{pid} * kSecond;
    proc_.add(pid, 5, "ls", "");
    fork(pid, 5, time_ns);
    exec(pid, "ls", time_ns + 1);
  }
  const std::string moved = "0::/moved.slice\n";
  write_text(proc_.root() + "/119/cgroup", moved);
  EXPECT_EQ(table_->process(119)->cgroup, "0::/test.slice\n");
  const uint64_t reads = table_->counters().details_read;
  EXPECT_EQ(table_->sampled(119, now_ + 120 * kSecond)->cgroup, moved);
  EXPECT_EQ(table_->sampled(119, now_ + 121 * kSecond)->cgroup, moved);
  EXPECT_EQ(table_->counters().details_read, reads + 1);
  EXPECT_EQ(table_->sampled(777, now_), nullptr);
}

TEST_F(ProcessTableTest, WhatAContainerRuntimeStartsIsLookedAtEachTime) {
  proc_.add(5, 1, "runc", "");
  table_->scan();
  for (uint32_t pid = 100; pid < 160; ++pid) {
    const uint64_t time_ns = now_ + uint64_t{pid} * kSecond;
    proc_.add(pid, 5, "app", "");
    const std::string cgroup = fmt::format("0::/pods/{}\n", pid);
    write_text(fmt::format("{}/{}/cgroup", proc_.root(), pid), cgroup);
    fork(pid, 5, time_ns);
    exec(pid, "app", time_ns + 1);
    EXPECT_EQ(table_->process(pid)->cgroup, cgroup);
  }
}

TEST_F(ProcessTableTest, NonsenseIsIgnored) {
  mmap(0, 0x1000, 0x2000, "[x]", 1);
  mmap(UINT32_MAX, 0x1000, 0x2000, "[x]", 1);
  fork(UINT32_MAX, UINT32_MAX, 5);
  fork(0, 5, 5);
  exit(77, 77, 5);
  exit(UINT32_MAX, 3, 5);
  EXPECT_EQ(table_->size(), 0);
  EXPECT_EQ(table_->find(0, 0, 0), nullptr);
  EXPECT_EQ(table_->process(0), nullptr);
}

}  // namespace
}  // namespace vesta::agent
