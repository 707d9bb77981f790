#include "agent/probes/probe_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <shared/off_cpu.h>
#include "agent/probes/block/block_view.h"
#include "agent/probes/wall/wall_view.h"

namespace vesta::agent {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names_of(const ProbePlan& plan) {
  std::vector<std::string> names;
  for (const ProbeRequest& probe : plan.probes) names.emplace_back(probe.kind->name);
  return names;
}

// "wall 0 1": a profile and the numbers of its probes.
std::vector<std::string> profiles_of(const ProbePlan& plan) {
  std::vector<std::string> rows;
  for (const ProfileRequest& profile : plan.profiles) {
    std::string row(profile.kind->name);
    for (const uint32_t probe : profile.probes) row += " " + std::to_string(probe);
    rows.push_back(row);
  }
  return rows;
}

ProbeRequest request(std::string_view name, uint32_t rate = 0) {
  ProbeRequest out = request_probe(*find_probe(name));
  if (rate != 0) out.options.rate = rate;
  return out;
}

TEST(ProbeTable, EveryRowIsAProbeOrAViewOfProbes) {
  for (const ProbeKind& kind : probe_kinds()) {
    EXPECT_NE(kind.load == nullptr, kind.view == nullptr) << kind.name;
    EXPECT_LE(kind.columns.size(), size_t{VESTA_MAX_VALUES}) << kind.name;
    EXPECT_EQ(kind.columns[kind.count_column].unit, "count") << kind.name;
    EXPECT_NE(kind.count_column, kind.main_column) << kind.name;
    if (kind.view == nullptr) continue;
    EXPECT_FALSE(kind.view->needs.empty()) << kind.name;
    bool needs_clock = false;
    for (const std::string_view name : kind.view->needs) {
      const ProbeKind* const needed = find_probe(name);
      ASSERT_NE(needed, nullptr) << name;
      EXPECT_EQ(needed->view, nullptr) << "a view of a view";
      EXPECT_EQ(needed->columns[needed->main_column].unit, kind.columns[kind.main_column].unit);
      needs_clock |= needed->default_rate != 0;
    }
    EXPECT_EQ(kind.default_rate != 0, needs_clock) << kind.name;
  }
}

TEST(ProbePlan, AProbeMakesItsOwnProfile) {
  const std::vector<ProbeRequest> wanted = {request("off-cpu"), request("cpu")};
  const ProbePlan plan = plan_probes(wanted);
  EXPECT_THAT(names_of(plan), ElementsAre("off-cpu", "cpu"));
  EXPECT_THAT(profiles_of(plan), ElementsAre("off-cpu 0", "cpu 1"));
}

TEST(ProbePlan, AViewStartsWhatItNeedsAndMakesOneProfile) {
  const std::vector<ProbeRequest> wanted = {request("wall", 499)};
  const ProbePlan plan = plan_probes(wanted);
  EXPECT_THAT(names_of(plan), ElementsAre("cpu", "off-cpu"));
  EXPECT_THAT(profiles_of(plan), ElementsAre("wall 0 1"));
  EXPECT_EQ(plan.probes[0].options.rate, 499U);
  EXPECT_EQ(plan.probes[1].options.rate, 0U) << "it has no clock";
}

TEST(ProbePlan, WhatIsNeededTwiceRunsOnceAsItWasAskedFor) {
  const std::vector<ProbeRequest> wanted = {request("wall", 499), request("cpu", 49)};
  const ProbePlan plan = plan_probes(wanted);
  EXPECT_THAT(names_of(plan), ElementsAre("cpu", "off-cpu"));
  EXPECT_THAT(profiles_of(plan), ElementsAre("wall 0 1", "cpu 0"));
  EXPECT_EQ(plan.probes[0].options.rate, 49U);
}

TEST(WallView, HasAStateForEveryEvent) {
  EXPECT_EQ(kWallView.part_of({*find_probe("cpu"), 0, "", {}}), "running");
  EXPECT_EQ(kWallView.part_of({*find_probe("off-cpu"), 0, "disk", {}}), "disk");
  EXPECT_EQ(kWallView.part_of({*find_probe("off-cpu"), 0, "run queue", {}}), "run queue");
  EXPECT_TRUE(kWallView.has_all_events);
}

// Of the wait that this system call makes for that reason.
std::optional<std::string> blocked(std::string_view cause, uint64_t syscall) {
  return kBlockView.part_of(
      {*find_probe("off-cpu"), vesta_wait_detail(syscall, VESTA_WAIT_INTERRUPTIBLE, 0), cause, {}});
}

TEST(BlockView, IsInputAndOutputByItsSystemCall) {
  EXPECT_EQ(blocked("disk", 74), "fsync");
  EXPECT_EQ(blocked("network", 45), "recvfrom");
  EXPECT_EQ(blocked("pipe", 0), "read");
  EXPECT_EQ(blocked("file lock", 73), "flock");
  EXPECT_EQ(blocked("disk", 999), "syscall 999");
  EXPECT_EQ(blocked("other", 0), "read") << "where the kernel's functions have no names";
}

TEST(BlockView, HasNoIdleThreadsNoLocksAndNoSleep) {
  EXPECT_EQ(blocked("poll", 232), std::nullopt);
  EXPECT_EQ(blocked("network", 288), std::nullopt) << "accept4 waits for work";
  EXPECT_EQ(blocked("lock", 202), std::nullopt);
  EXPECT_EQ(blocked("kernel lock", 1), std::nullopt);
  EXPECT_EQ(blocked("sleep", 230), std::nullopt);
  EXPECT_EQ(blocked("event", 0), std::nullopt);
  EXPECT_EQ(blocked("run queue", 0), std::nullopt);
  EXPECT_EQ(blocked("other", 16), std::nullopt);
  EXPECT_EQ(blocked("page fault", VESTA_WAIT_NO_SYSCALL), std::nullopt);
  EXPECT_FALSE(kBlockView.has_all_events);
}

}  // namespace
}  // namespace vesta::agent
