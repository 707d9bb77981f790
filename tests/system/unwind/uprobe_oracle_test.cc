// The kernel-side unwinder at a known place of a victim, against what libgcc's _Unwind_Backtrace
// says there: the same frames, in the same order, down to the outermost (_start, or clone3 in a
// thread), and the result COMPLETE. Nothing of a stack is left out of the comparison.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <shared/session.h>
#include <uprobe_oracle.skel.h>
#include "agent/kernel/bpf_stats.h"
#include "base/test_requirements.h"
#include "loaded_oracle.h"
#include "stack_pipeline.h"
#include "victim_process.h"

namespace vesta::agent {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kStacks = 2000;
// What the kernel side copies of a stack for user space to finish.
constexpr uint64_t kCopiedBytes = VESTA_STACK_COPY_BYTES + VESTA_MORE_STACK_BYTES;

struct Skeleton {
  void operator()(uprobe_oracle_bpf* skeleton) const { uprobe_oracle_bpf__destroy(skeleton); }
};
struct Link {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};

// A record of the victim, and what we say of the same call of its leaf.
struct Pair {
  VictimRecord truth;
  OracleStack found;

  std::vector<uint64_t> wanted() const {
    std::vector<uint64_t> code(truth.frames.size());
    std::ranges::transform(truth.frames, code.begin(), code_address);
    return code;
  }
  bool is_same() const { return found.result == VESTA_UNWIND_COMPLETE && found.code == wanted(); }
  // What there is of the stack is right, but there is not all of it.
  bool is_beginning() const {
    const std::vector<uint64_t> code = wanted();
    return found.code.size() < code.size() &&
           std::equal(found.code.begin(), found.code.end(), code.begin());
  }
  bool is_cut() const { return found.result == VESTA_UNWIND_STACK_CUT && is_beginning(); }
};

std::string difference(const Pair& pair, StackPipeline& pipeline) {
  const std::vector<uint64_t> wanted = pair.wanted();
  const std::vector<uint64_t>& found = pair.found.code;
  const size_t same =
      static_cast<size_t>(std::ranges::mismatch(wanted, found).in1 - wanted.begin());
  const auto name = [&](const std::vector<uint64_t>& code) {
    return same < code.size() ? pipeline.place(pair.found.pid, code[same]) : "the end";
  };
  return fmt::format(
      "stack {}: result {} (kernel {}), {} frames instead of {}, frame {} is {} instead of {}",
      pair.truth.sequence, static_cast<int>(pair.found.result),
      static_cast<int>(pair.found.kernel_result), found.size(), wanted.size(), same, name(found),
      name(wanted));
}

class UprobeOracleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    VESTA_REQUIRE_OR_SKIP(::geteuid() == 0, "kernel programs need root");
    skeleton_.reset(uprobe_oracle_bpf__open());
    ASSERT_NE(skeleton_, nullptr);
    OracleLoad loaded = load_oracle(*skeleton_, uprobe_oracle_bpf__load);
    VESTA_REQUIRE_OR_SKIP(!loaded.is_forbidden, loaded.problem);
    ASSERT_EQ(loaded.problem, "");
    session_ = std::move(loaded.session);
  }

  void run(std::vector<std::string> arguments, bool fill_kernel_maps) {
    victim_ = VictimProcess::start(std::move(arguments));
    ASSERT_NE(victim_, nullptr) << "the victim did not start";
    ASSERT_TRUE(session_->add_target(victim_->pid()).ok());
    auto pipeline =
        StackPipeline::start(*session_, {{victim_->pid()}, fill_kernel_maps, kOracleModules});
    ASSERT_TRUE(pipeline.ok()) << pipeline.error().message;
    pipeline_ = std::move(*pipeline);
    if (fill_kernel_maps) {
      ASSERT_TRUE(
          pipeline_->wait_for_tables(victim_->pid(), std::chrono::steady_clock::now() + 60s));
    }
    bpf_uprobe_opts options{};
    options.sz = sizeof(options);
    options.func_name = "vesta_oracle_leaf";
    const std::unique_ptr<bpf_link, Link> link(bpf_program__attach_uprobe_opts(
        skeleton_->progs.take_oracle_stack, -1, VESTA_UNWIND_VICTIM, 0, &options));
    ASSERT_NE(link, nullptr) << "cannot attach the uprobe";
    const auto counting = count_bpf_run_time();
    victim_->go();
    VictimRecord record;
    // The victim writes about a call when the leaf has returned: its stack is in the ring by then.
    while (victim_->next(record)) {
      for (OracleStack& stack : pipeline_->take(std::chrono::steady_clock::now() + 60s))
        found_.push_back(std::move(stack));
      pairs_.push_back({std::move(record), {}});
    }
    const KernelRunTime time = run_time_of(skeleton_->obj);
    ns_per_stack_ =
        time.runs == 0 ? 0 : static_cast<double>(time.ns) / static_cast<double>(time.runs);
    match();
  }

  // Brings the two sides together, by the number that the leaf was called with.
  void match() {
    ASSERT_EQ(found_.size(), pairs_.size());
    std::ranges::sort(found_, {}, &OracleStack::tag);
    for (size_t i = 0; i < pairs_.size(); ++i) {
      ASSERT_EQ(found_[i].tag, pairs_[i].truth.sequence);
      pairs_[i].found = std::move(found_[i]);
    }
    EXPECT_EQ(pipeline_->damaged_records(), 0U);
  }

  void report(std::string_view what) const {
    uint64_t frames = 0;
    uint64_t same = 0;
    for (const Pair& pair : pairs_) {
      frames += pair.truth.frames.size();
      same += pair.is_same() ? 1 : 0;
    }
    fmt::print("{}: {} of {} stacks identical, {:.1f} frames on average, {:.0f} ns of BPF each\n",
               what, same, pairs_.size(),
               static_cast<double>(frames) / static_cast<double>(pairs_.size()), ns_per_stack_);
  }

  std::unique_ptr<KernelSession> session_;
  std::unique_ptr<uprobe_oracle_bpf, Skeleton> skeleton_;
  std::unique_ptr<VictimProcess> victim_;
  std::unique_ptr<StackPipeline> pipeline_;
  std::vector<OracleStack> found_;
  std::vector<Pair> pairs_;
  double ns_per_stack_ = 0;
};

TEST_F(UprobeOracleTest, KernelSideFindsTheFramesThatLibgccFinds) {
  run({"--count", std::to_string(kStacks), "--seed", "11", "--depth", "60"}, true);
  if (HasFatalFailure()) return;
  report("in the kernel");
  EXPECT_EQ(pairs_.size(), kStacks);
  int shown = 0;
  for (const Pair& pair : pairs_) {
    // Deep ones are longer than what the kernel side looks for.
    if (pair.truth.frames.size() > VESTA_MAX_USER_FRAMES) {
      EXPECT_TRUE(pair.found.result == VESTA_UNWIND_TRUNCATED && pair.is_beginning());
      continue;
    }
    if (pair.is_same() && pair.found.kernel_result == VESTA_UNWIND_COMPLETE) continue;
    if (++shown <= 5) ADD_FAILURE() << difference(pair, *pipeline_);
  }
  EXPECT_EQ(shown, 0);
}

TEST_F(UprobeOracleTest, UserSpaceFindsThemInTheCopiedStack) {
  run({"--count", std::to_string(kStacks), "--seed", "12", "--depth", "60", "--one-stack",
       "--memory"},
      false);
  if (HasFatalFailure()) return;
  report("in user space, nothing loaded");
  EXPECT_EQ(pairs_.size(), kStacks);
  int shown = 0;
  uint64_t cut = 0;
  for (const Pair& pair : pairs_) {
    EXPECT_EQ(pair.found.kernel_result, VESTA_UNWIND_NO_PROCESS);
    if (pair.is_same()) continue;
    if (pair.is_cut() && pair.truth.region_bytes.at(0) > kCopiedBytes) {
      ++cut;
    } else if (++shown <= 5) {
      ADD_FAILURE() << difference(pair, *pipeline_);
    }
  }
  fmt::print("{} are cut, being deeper than {} bytes\n", cut, kCopiedBytes);
  EXPECT_EQ(shown, 0);
  EXPECT_LT(cut, kStacks / 4);
}

TEST_F(UprobeOracleTest, WhatGoesOnInAnotherStackIsCutThere) {
  run({"--count", "500", "--seed", "13", "--depth", "14", "--memory"}, false);
  if (HasFatalFailure()) return;
  report("over to another stack, nothing loaded");
  uint64_t cut = 0;
  for (const Pair& pair : pairs_) {
    if (pair.is_same()) continue;
    EXPECT_TRUE(pair.is_cut() && pair.truth.region_bytes.size() > 1)
        << difference(pair, *pipeline_);
    ++cut;
  }
  EXPECT_GT(cut, 0U);
}

TEST_F(UprobeOracleTest, RecursionOf500FramesIsComplete) {
  for (const bool fill_kernel_maps : {true, false}) {
    found_.clear();
    pairs_.clear();
    run({"--count", "20", "--recurse", "500"}, fill_kernel_maps);
    if (HasFatalFailure()) return;
    for (const Pair& pair : pairs_) {
      EXPECT_GE(pair.truth.frames.size(), 500U);
      EXPECT_TRUE(pair.is_same()) << difference(pair, *pipeline_);
    }
  }
}

TEST_F(UprobeOracleTest, RecursionOf600FramesIsTruncatedAt512) {
  for (const bool fill_kernel_maps : {true, false}) {
    found_.clear();
    pairs_.clear();
    run({"--count", "20", "--recurse", "600"}, fill_kernel_maps);
    if (HasFatalFailure()) return;
    for (const Pair& pair : pairs_) {
      EXPECT_GE(pair.truth.frames.size(), 600U);
      EXPECT_EQ(pair.found.result, VESTA_UNWIND_TRUNCATED);
      EXPECT_EQ(pair.found.code.size(), size_t{VESTA_MAX_USER_FRAMES});
      EXPECT_TRUE(pair.is_beginning()) << difference(pair, *pipeline_);
    }
  }
}

}  // namespace
}  // namespace vesta::agent
