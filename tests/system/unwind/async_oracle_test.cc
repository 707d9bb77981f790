// The unwinder at any instruction of real programs, against elfutils' libdwfl. A kernel program
// takes the stack as the sampler does and stops the thread on the spot; libdwfl unwinds what stands
// there. Frames are compared one by one, to the outermost.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <shared/session.h>
// After the types that it uses.
#include <async_oracle.skel.h>
#include "agent/kernel/online_cpus.h"
#include "agent/probes/cpu/perf_clock.h"
#include "agent/stream/unwind_result.h"
#include "base/test_requirements.h"
#include "dwfl_judge.h"
#include "judged_programs.h"
#include "loaded_oracle.h"
#include "stack_pipeline.h"
#include "traced_program.h"

namespace vesta::agent {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr uint32_t kFrequency = 997;
constexpr uint64_t kSamples = 400;        // of each program
constexpr uint64_t kEnoughSamples = 200;  // on a machine that has other things to do
constexpr auto kPatience = 60s;           // for each program
constexpr auto kPatienceForStop = 2s;     // for a program that may not get a CPU
constexpr double kWantedShare = 0.995;
constexpr double kMaxNotJudged = 0.03;
constexpr uint64_t kShownMisses = 4;  // of each program

struct Skeleton {
  void operator()(async_oracle_bpf* skeleton) const { async_oracle_bpf__destroy(skeleton); }
};
struct Link {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};

struct Tally {
  uint64_t compared = 0;  // where libdwfl knows all that it needs
  uint64_t identical = 0;
  uint64_t in_kernel_mode = 0;  // of the compared
  uint64_t deferred = 0;        // of the compared: finished in user space
  // libdwfl has no information about a frame, and ends there or guesses: ld.so's entry, the system
  // call in clone3. We are complete.
  uint64_t not_judged = 0;
  uint64_t moved = 0;         // stopped elsewhere: a signal or exec was under way in the kernel
  uint64_t without_user = 0;  // in the middle of exec
  uint64_t frames = 0;
  uint64_t stack_ns = 0;
  std::map<std::string, uint64_t> misses;
};

// What libdwfl says of a frame is the same as what we say. Both call the frame that a signal
// handler returns to exact, too.
bool is_same_frame(uint64_t code, const JudgedFrame& frame) {
  return code == (frame.is_activation ? frame.pc : frame.pc - 1);
}

size_t equal_frames(const OracleStack& ours, const JudgedStack& theirs) {
  size_t same = 0;
  while (same < ours.code.size() && same < theirs.frames.size() &&
         is_same_frame(ours.code[same], theirs.frames[same])) {
    ++same;
  }
  return same;
}

bool is_identical(const OracleStack& ours, const JudgedStack& theirs) {
  return ours.result == VESTA_UNWIND_COMPLETE && theirs.problem.empty() &&
         ours.code.size() == theirs.frames.size() && equal_frames(ours, theirs) == ours.code.size();
}

// Who of the two is wrong, as far as can be told.
std::string classify(const OracleStack& ours, const JudgedStack& theirs) {
  if (ours.result != VESTA_UNWIND_COMPLETE)
    return fmt::format("vesta: {}", unwind_result_name(ours.result));
  if (!theirs.problem.empty()) return "libdwfl: " + theirs.problem;
  const size_t same = equal_frames(ours, theirs);
  if (same == ours.code.size()) return "vesta ends earlier";
  if (same == theirs.frames.size()) return "libdwfl ends earlier";
  const auto pid = static_cast<pid_t>(ours.pid);
  const bool ours_is_call = is_after_call(pid, ours.code[same] + 1);
  const bool theirs_is_call = is_after_call(pid, theirs.frames[same].pc);
  if (ours_is_call == theirs_is_call) return "undecided";
  return ours_is_call ? "libdwfl is wrong" : "vesta is wrong";
}

class AsyncOracleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    VESTA_REQUIRE_OR_SKIP(::geteuid() == 0, "kernel programs and ptrace need root");
    skeleton_.reset(async_oracle_bpf__open());
    ASSERT_NE(skeleton_, nullptr);
    OracleLoad loaded = load_oracle(*skeleton_, async_oracle_bpf__load);
    VESTA_REQUIRE_OR_SKIP(!loaded.is_forbidden, loaded.problem);
    ASSERT_EQ(loaded.problem, "");
    session_ = std::move(loaded.session);
    auto pipeline = StackPipeline::start(
        *session_, {{static_cast<uint32_t>(::getpid())}, true, kOracleModules});
    ASSERT_TRUE(pipeline.ok()) << pipeline.error().message;
    pipeline_ = std::move(*pipeline);
    const auto clock = choose_clock(ClockSource::kAuto, kFrequency);
    ASSERT_TRUE(clock.ok()) << clock.error().message;
    const auto cpus = online_cpus();
    ASSERT_TRUE(cpus.ok());
    for (const int cpu : *cpus) {
      auto event = open_clock(*clock, cpu);
      ASSERT_TRUE(event.ok()) << event.error().message;
      links_.emplace_back(
          bpf_program__attach_perf_event(skeleton_->progs.stop_at_sample, event->get()));
      ASSERT_NE(links_.back(), nullptr);
      (void)event->release();  // the link closes it
    }
  }

  void arm(uint32_t ticks) { std::atomic_ref(skeleton_->bss->armed).store(ticks); }

  Tally judge(const JudgedProgram& program) {
    Tally tally;
    const auto deadline = Clock::now() + kPatience;
    const uint64_t ns_before = skeleton_->bss->stack_ns;
    while (tally.compared < kSamples && Clock::now() < deadline) {
      const auto traced = TracedProgram::start(program.arguments);
      if (traced == nullptr || !session_->add_target(traced->pid()).ok()) break;
      judge_run(program, *traced, deadline, tally);
      arm(0);
    }
    tally.stack_ns = skeleton_->bss->stack_ns - ns_before;
    return tally;
  }

  // One run of a program, until it ends or there are enough samples.
  void judge_run(const JudgedProgram& program, TracedProgram& traced, Deadline deadline,
                 Tally& tally) {
    std::unique_ptr<DwflJudge> judge;
    uint64_t version = 0;
    traced.resume();
    while (tally.compared < kSamples) {
      arm(1 + static_cast<uint32_t>(random_() % program.max_ticks));
      // A thread that was sampled on its way to the end does not stop any more: on to another.
      const auto stop = traced.wait_for_stop(std::min(deadline, Clock::now() + kPatienceForStop));
      if (stop == TracedProgram::Wait::kEnded || Clock::now() >= deadline) break;
      if (stop != TracedProgram::Wait::kStopped) continue;
      for (const OracleStack& stack : pipeline_->take(Clock::now() + 10s)) {
        if (stack.tid != static_cast<uint32_t>(traced.stopped_thread())) continue;
        const user_regs_struct registers = traced.registers();
        if (stack.result == VESTA_UNWIND_NO_USER) {
          ++tally.without_user;
          continue;
        }
        if (stack.code.empty() || registers.rip != stack.code[0] ||
            registers.rsp != stack.stack_pointer) {
          ++tally.moved;
          EXPECT_NE(stack.kernel_frames, 0U) << "a thread in user space stopped where it was not";
          continue;
        }
        if (judge == nullptr || version != pipeline_->version(stack.pid)) {
          judge = DwflJudge::open(static_cast<pid_t>(stack.pid));
          version = pipeline_->version(stack.pid);
          if (judge == nullptr) continue;
        }
        compare(stack, judge->unwind(traced.stopped_thread(), registers), *judge, tally);
      }
      traced.resume();
    }
  }

  void compare(const OracleStack& ours, const JudgedStack& theirs, const DwflJudge& judge,
               Tally& tally) {
    const bool is_same = is_identical(ours, theirs);
    const size_t same = equal_frames(ours, theirs);
    if (!is_same && ours.result == VESTA_UNWIND_COMPLETE && same > 0 &&
        !judge.has_rule(ours.code[same - 1])) {
      ++tally.not_judged;
      return;
    }
    ++tally.compared;
    tally.frames += ours.code.size();
    if (ours.kernel_frames != 0) ++tally.in_kernel_mode;
    if (ours.kernel_result != ours.result) ++tally.deferred;
    if (is_same) {
      ++tally.identical;
      return;
    }
    const std::string what = classify(ours, theirs);
    ++tally.misses[what];
    if (tally.compared - tally.identical > kShownMisses) return;
    const auto place = [&](uint64_t address) {
      return fmt::format("{} {}", pipeline_->place(ours.pid, address), judge.function(address));
    };
    fmt::print("  {}: {} frames against {}, {} equal; at {}; then {} against {}; last equal {}\n",
               what, ours.code.size(), theirs.frames.size(), same, place(ours.code[0]),
               same < ours.code.size() ? place(ours.code[same]) : "the end",
               same < theirs.frames.size() ? place(theirs.frames[same].pc) : "the end",
               same > 0 ? place(ours.code[same - 1]) : "none");
  }

  std::unique_ptr<KernelSession> session_;
  std::unique_ptr<async_oracle_bpf, Skeleton> skeleton_;
  std::unique_ptr<StackPipeline> pipeline_;
  std::vector<std::unique_ptr<bpf_link, Link>> links_;
  std::mt19937 random_{1};
};

TEST_F(AsyncOracleTest, FindsTheFramesThatLibdwflFinds) {
  Tally all;
  std::string table = fmt::format(
      "{:<12} {:>8} {:>9} {:>6} {:>8} {:>10} {:>5} {:>6} {:>8}  misses\n", "program", "compared",
      "identical", "kernel", "deferred", "not judged", "moved", "frames", "ns/stack");
  for (const JudgedProgram& program : judged_programs()) {
    if (program.arguments.empty()) {
      EXPECT_FALSE(require_all()) << program.name << " is not here";
      fmt::print("{} is not here\n", program.name);
      continue;
    }
    fmt::print("{}\n", program.name);
    const Tally tally = judge(program);
    EXPECT_GE(tally.compared, kEnoughSamples) << program.name;
    const uint64_t count = std::max<uint64_t>(tally.compared, 1);
    table += fmt::format("{:<12} {:>8} {:>9} {:>6} {:>8} {:>10} {:>5} {:>6.1f} {:>8}  ",
                         program.name, tally.compared, tally.identical, tally.in_kernel_mode,
                         tally.deferred, tally.not_judged, tally.moved,
                         static_cast<double>(tally.frames) / static_cast<double>(count),
                         tally.stack_ns / count);
    for (const auto& [what, misses] : tally.misses) table += fmt::format("{} × {}; ", misses, what);
    table += '\n';
    all.compared += tally.compared;
    all.identical += tally.identical;
    all.not_judged += tally.not_judged;
  }
  ASSERT_GT(all.compared, 0U);
  const double share = static_cast<double>(all.identical) / static_cast<double>(all.compared);
  fmt::print("{}{} of {} stacks identical, {:.2f} %; {} that libdwfl cannot judge\n", table,
             all.identical, all.compared, share * 100, all.not_judged);
  EXPECT_GE(share, kWantedShare);
  EXPECT_LE(static_cast<double>(all.not_judged), kMaxNotJudged * static_cast<double>(all.compared));
}

}  // namespace
}  // namespace vesta::agent
