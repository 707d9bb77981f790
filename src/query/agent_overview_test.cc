#include "query/agent_overview.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/time.h"
#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"
#include "store/memory/memory_engine.h"

namespace vesta {
namespace {

constexpr int64_t kStart = 1'763'208'000 * kSecond;
constexpr TimeRange kRange{kStart, kStart + 100 * kSecond};

class AgentOverviewTest : public ::testing::Test {
 protected:
  struct Sent {
    std::vector<std::pair<std::string_view, std::string_view>> labels;
    int64_t time_ns = kStart;
    std::string_view stack = "main";
    std::string_view type = "cpu";
    int64_t value = 100;
    int64_t period = 10'101'010;
  };
  void write(const Sent& sent) {
    const bool is_cpu = sent.type == "cpu";
    ProfileBatch batch =
        test::batch_from({{sent.stack, sent.value}}, sent.type, is_cpu ? "nanoseconds" : "bytes");
    DictionaryBuilder b(batch.dictionary);
    std::vector<Label> labels;
    for (const auto& [name, value] : sent.labels) labels.push_back(b.text_label(name, value));
    Profile& profile = batch.profiles[0];
    profile.resource = b.label_set(labels);
    profile.time_ns = sent.time_ns;
    if (is_cpu) {
      profile.period_type = {b.string("cpu"), b.string("nanoseconds"), Temporality::kCumulative};
      profile.period = sent.period;
      profile.losses = {{b.string("ring full"), 2}};
    }
    WriteOptions options;
    options.now_ns = kStart;
    const auto receipt = engine_->write("t", batch, options);
    if (!receipt.ok()) throw std::runtime_error(receipt.error().message);
  }
  AgentOverview ask(size_t most = 10, QueryBudget budget = {}) {
    auto answer = agent_overview(*engine_, "t", kRange, most, budget);
    if (!answer.ok()) throw std::runtime_error(answer.error().message);
    return std::move(*answer);
  }

  std::unique_ptr<Engine> engine_ = make_memory_engine();
};

TEST_F(AgentOverviewTest, KnowsHostsByWhateverLabelNamesThem) {
  write({{{"service_name", "web"}, {"host.name", "a"}, {"telemetry.sdk.name", "vesta"}}});
  write({{{"service_name", "api"}, {"host.name", "a"}}, kStart + kSecond});
  write({{{"service_name", "api"}, {"instance", "b:80"}, {"pod", "x"}}, kStart, "main", "heap"});
  write({{{"service_name", "old"}, {"host.name", "gone"}}, kStart - 10 * kSecond});
  const AgentOverview found = ask();
  ASSERT_EQ(found.agents.size(), 2U);
  EXPECT_EQ(found.cut_agents, 0U);
  const AgentRow& a = found.agents[0];
  EXPECT_EQ(a.host, "a");
  EXPECT_EQ(a.agent, "vesta");
  EXPECT_EQ(a.services, 2U);
  EXPECT_EQ(a.types, std::vector<std::string>{"cpu"});
  EXPECT_EQ(a.profiles, 2U);
  EXPECT_EQ(a.last_ns, kStart + kSecond);
  ASSERT_TRUE(a.coverage.has_value());
  EXPECT_EQ(a.coverage->total, 200);
  EXPECT_DOUBLE_EQ(a.coverage->rate_hz, 99);
  ASSERT_EQ(a.coverage->losses.size(), 1U);
  EXPECT_EQ(a.coverage->losses[0].count, 4U);
  const AgentRow& b = found.agents[1];
  EXPECT_EQ(b.host, "b:80");
  EXPECT_EQ(b.types, std::vector<std::string>{"heap"});
  EXPECT_FALSE(b.coverage.has_value());
}

TEST_F(AgentOverviewTest, WhatFewProcessesSayIsNotTheAgent) {
  write({{{"service_name", "web"}, {"host.name", "a"}, {"telemetry.sdk.name", "libdatadog"}}});
  write({{{"service_name", "api"}, {"host.name", "a"}}});
  write({{{"service_name", "db"}, {"host.name", "a"}}});
  const AgentOverview found = ask();
  ASSERT_EQ(found.agents.size(), 1U);
  EXPECT_EQ(found.agents[0].agent, "");
}

TEST_F(AgentOverviewTest, MeasuresEachHostByItself) {
  write({{{"host.name", "good.*"}}});
  write({{{"host.name", "goodxx"}}, kStart, "[truncated];main"});
  write({{{"host_name", "both"}}, kStart, "main", "cpu", 100, 20'000'000});
  write({{{"hostname", "both"}}, kStart, "[truncated];main", "cpu", 300});
  const AgentOverview found = ask();
  ASSERT_EQ(found.agents.size(), 3U);
  EXPECT_EQ(found.agents[0].host, "both");
  EXPECT_DOUBLE_EQ(found.agents[0].coverage->complete, 0.25);
  EXPECT_DOUBLE_EQ(found.agents[0].coverage->rate_hz, 50);
  EXPECT_DOUBLE_EQ(found.agents[1].coverage->complete, 1);
  EXPECT_DOUBLE_EQ(found.agents[2].coverage->complete, 0);
}

TEST_F(AgentOverviewTest, KeepsThoseThatSentSomethingLast) {
  for (int i = 0; i < 40; ++i) {
    write({{{"host.name", "host-" + std::to_string(i)}}, kStart + i * kSecond});
  }
  const AgentOverview found = ask(30);
  EXPECT_EQ(found.agents.size(), 30U);
  EXPECT_EQ(found.cut_agents, 10U);
  for (const AgentRow& row : found.agents) {
    EXPECT_GE(row.last_ns, kStart + 10 * kSecond) << row.host;
    EXPECT_TRUE(row.coverage.has_value()) << row.host;
  }
}

TEST_F(AgentOverviewTest, ListsHostsThoughTheirProfilesAreTooMuchToMeasure) {
  write({{{"host.name", "a"}}});
  QueryBudget budget;
  budget.bytes = sizeof(TotalsPoint);
  for (int i = 0; i < 100; ++i)
    write({{{"host.name", "a"}}, kStart + i, i % 2 == 0 ? "main;a" : "main;b", "cpu", 1 + i});
  for (const char* leaf : {"main;c", "main;d", "main;e", "main;f", "main;g", "main;h", "main;i"})
    write({{{"host.name", "a"}}, kStart, leaf});
  const AgentOverview found = ask(10, budget);
  ASSERT_EQ(found.agents.size(), 1U);
  EXPECT_FALSE(found.agents[0].coverage.has_value());
}

}  // namespace
}  // namespace vesta
