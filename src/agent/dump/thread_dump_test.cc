#include "agent/dump/thread_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <array>

#include "agent/dump/thread_reader.h"
#include "base/test_requirements.h"

namespace vesta::agent {
namespace {

__attribute__((noinline)) void wait_inner(int fd) {
  char byte = 0;
  while (::read(fd, &byte, 1) == 1) asm volatile("");
}
__attribute__((noinline)) void wait_outer(int fd) {
  wait_inner(fd);
  asm volatile("");
}
[[noreturn]] __attribute__((noinline)) void burn_here() {
  while (true) asm volatile("");
}

class ThreadDumpTest : public testing::Test {
 protected:
  void SetUp() override { VESTA_REQUIRE_OR_SKIP(::geteuid() == 0, "reading threads needs root"); }
  void TearDown() override {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  template <class Work>
  uint32_t start(const Work& work) {
    pid_ = ::fork();
    if (pid_ == 0) {
      work();
      ::_exit(0);
    }
    return static_cast<uint32_t>(pid_);
  }
  static std::string names(const DumpedThread& thread) {
    std::string out;
    for (const DumpFrame& frame : thread.frames) out += frame.function + ";";
    return out;
  }
  pid_t pid_ = 0;
};

TEST_F(ThreadDumpTest, ShowsWhereAThreadWaits) {
  std::array<int, 2> pipe_fds{};
  ASSERT_EQ(::pipe(pipe_fds.data()), 0);
  DumpOptions options;
  options.pids = {start([&] { wait_outer(pipe_fds[0]); })};
  for (int turn = 0; turn < 100; ++turn) {  // until it has got there
    const auto dump = dump_threads(options);
    ASSERT_TRUE(dump.ok()) << dump.error().message;
    ASSERT_EQ(dump->processes.size(), 1U);
    ASSERT_EQ(dump->processes[0].threads.size(), 1U);
    const DumpedThread& thread = dump->processes[0].threads[0];
    if (thread.state != "sleeping") continue;
    EXPECT_EQ(thread.tid, options.pids[0]);
    EXPECT_THAT(names(thread), testing::MatchesRegex(".*wait_inner.*;.*wait_outer.*main;.*"));
    EXPECT_EQ(thread.problem, "");
    break;
  }
  ::close(pipe_fds[0]);
  ::close(pipe_fds[1]);
}

TEST_F(ThreadDumpTest, SamplesAThreadThatNeverWaits) {
  DumpOptions options;
  options.pids = {start([] { burn_here(); })};
  const auto dump = dump_threads(options);
  ASSERT_TRUE(dump.ok()) << dump.error().message;
  EXPECT_THAT(names(dump->processes[0].threads[0]), testing::HasSubstr("burn_here"));
}

TEST_F(ThreadDumpTest, AProcessThatDoesNotExistIsSaidToBeMissing) {
  DumpOptions options;
  options.pids = {4'194'305};
  const auto dump = dump_threads(options);
  ASSERT_FALSE(dump.ok());
  EXPECT_EQ(dump.error().code, ErrorCode::kNotFound);
}

TEST(ThreadReading, AThreadThatRanIsNotTakenForOneThatWaited) {
  vesta_thread before{};
  before.pid = before.tid = 7;
  before.switches = 3;
  vesta_thread after = before;
  EXPECT_TRUE(has_not_run(before, after));
  after.switches = 4;
  EXPECT_FALSE(has_not_run(before, after));
  after = before;
  after.registers.sp = 8;
  EXPECT_FALSE(has_not_run(before, after));
  after = before;
  after.flags = VESTA_THREAD_ON_CPU;
  EXPECT_FALSE(has_not_run(before, after));
  EXPECT_EQ(thread_state_name(after), "running");
  EXPECT_EQ(thread_state_name(before), "runnable");
}

}  // namespace
}  // namespace vesta::agent
