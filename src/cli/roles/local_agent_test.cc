#include "cli/roles/local_agent.h"

#include <gtest/gtest.h>

namespace vesta::cli {
namespace {

TEST(LocalAgent, TellsWhatTheAgentKnowsOfItself) {
  agent::AgentStatus status;
  status.version = "1.2";
  status.uptime_ns = 61'500'000'000;
  status.rate = 49;
  status.configured_rate = 99;
  status.lost = {{"sample ring full", 3}};
  status.troubles = {{"process event lost", 4}};
  agent::ExporterStats stats;
  stats.sent = 5;
  stats.rejected = 6;
  stats.expired = 7;
  stats.queued = 8;
  status.exporters = {{"in-process", stats}};
  status.problems = {"naming is stuck"};
  status.warnings = {"kernel functions have no names"};
  const server::LocalAgent agent = describe_agent(status);
  EXPECT_EQ(agent.version, "1.2");
  EXPECT_EQ(agent.uptime_s, 61U);
  EXPECT_EQ(agent.rate_hz, 49U);
  EXPECT_EQ(agent.rate_configured_hz, 99U);
  ASSERT_EQ(agent.losses.size(), 1U);
  EXPECT_EQ(agent.losses[0].second, 3U);
  ASSERT_EQ(agent.troubles.size(), 1U);
  ASSERT_EQ(agent.exporters.size(), 1U);
  EXPECT_EQ(agent.exporters[0].sent, 5U);
  EXPECT_EQ(agent.exporters[0].failed, 13U);
  EXPECT_EQ(agent.exporters[0].queued, 8U);
  EXPECT_EQ(agent.problems.size(), 2U);
}

TEST(LocalAgent, IsNoneUntilOneRuns) {
  const RunningAgent running;
  EXPECT_FALSE(running.describe().has_value());
}

}  // namespace
}  // namespace vesta::cli
