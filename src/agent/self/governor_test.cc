#include "agent/self/governor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace vesta::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::Lt;

constexpr uint64_t kSecond = 1'000'000'000;

// An agent whose cost is a part that is always there and one for each sample, in shares of a core.
struct Simulation {
  explicit Simulation(const GovernorOptions& options) : governor(options) {
    update();
    usage.wall_ns += options.warm_up_ns;
    update();
  }

  void update() { governor.update(usage); }
  void run(int seconds, const std::function<double(int)>& fixed,
           const std::function<double(int)>& per_99) {
    for (int i = 0; i < seconds; ++i) {
      const double share = fixed(i) + per_99(i) * governor.rate() / 99.0;
      usage.wall_ns += kSecond;
      usage.own_ns += static_cast<uint64_t>(share * 0.6 * kSecond);
      usage.bpf_ns += static_cast<uint64_t>(share * 0.4 * kSecond);
      update();
      highest = std::max(highest, governor.share());
    }
  }
  void run(int seconds, double fixed, double per_99) {
    run(
        seconds, [=](int) { return fixed; }, [=](int) { return per_99; });
  }

  Governor governor;
  CpuUsage usage;
  double highest = 0;
};

TEST(Governor, LadderGoesFromTheLeastToTheConfiguredRate) {
  EXPECT_THAT(Governor::ladder(1, 99), ElementsAre(1, 3, 5, 7, 11, 19, 29, 37, 47, 61, 79, 99));
  EXPECT_THAT(Governor::ladder(10, 50), ElementsAre(10, 11, 19, 29, 37, 47, 50));
  EXPECT_THAT(Governor::ladder(1, 1), ElementsAre(1));
  EXPECT_THAT(Governor::ladder(50, 20), ElementsAre(20)) << "never above the configured one";
  EXPECT_EQ(Governor::ladder(0, 999).back(), 999U);
  EXPECT_TRUE(std::ranges::is_sorted(Governor::ladder(1, 10000)));
}

TEST(Governor, WithinTheBudgetNothingChanges) {
  Simulation simulation({});
  simulation.run(3600, 0.002, 0.005);
  EXPECT_EQ(simulation.governor.rate(), 99U);
  EXPECT_EQ(simulation.governor.changes(), 0U);
  EXPECT_NEAR(simulation.governor.share(), 0.007, 1e-4);
}

TEST(Governor, ComesToRestWithinTheBudgetWhateverTheCostIsMadeOf) {
  for (const double fixed : {0.0, 0.001, 0.003, 0.006}) {
    for (const double per_99 : {0.008, 0.012, 0.02, 0.05, 0.2, 1.0}) {
      SCOPED_TRACE(testing::Message() << fixed << " + " << per_99);
      Simulation simulation({});
      simulation.run(1800, fixed, per_99);
      const uint64_t changes = simulation.governor.changes();
      const bool can_be_met = fixed + per_99 / 99 < 0.0099;
      if (can_be_met) {
        EXPECT_LE(simulation.governor.share(), 0.0101);
      }
      // As high as the budget allows, but for a step or two.
      const double affordable = (0.01 - fixed) / per_99 * 99;
      if (simulation.governor.rate() < 99) {
        EXPECT_GE(simulation.governor.rate(), std::min(99.0, affordable) * 0.4 - 2);
      }
      // Afterwards it tries a higher rate now and then, ever more rarely.
      simulation.run(3600, fixed, per_99);
      EXPECT_LE(simulation.governor.changes() - changes, 10U);
      if (can_be_met) {
        EXPECT_LE(simulation.governor.share(), 0.0101);
      }
    }
  }
}

TEST(Governor, LowersBeforeTheBudgetIsExceeded) {
  Simulation simulation({});
  simulation.run(300, 0.001, 0.004);
  simulation.run(600, 0.001, 0.03);  // six times as dear from now on
  EXPECT_LE(simulation.highest, 0.0105);
  EXPECT_LT(simulation.governor.rate(), 40U);
}

TEST(Governor, ReactsToABurstWithinTenSeconds) {
  for (const double burst : {0.02, 0.05, 0.3, 2.0}) {
    SCOPED_TRACE(burst);
    Simulation simulation({});
    simulation.run(300, 0.001, 0.003);
    int seconds = 0;
    while (simulation.governor.rate() == 99 && seconds < 60) {
      simulation.run(1, 0.001, burst);
      ++seconds;
    }
    EXPECT_LE(seconds, 10);
  }
}

TEST(Governor, RaisesAgainWhenTheLoadIsGone) {
  Simulation simulation({});
  simulation.run(120, 0.001, 0.5);
  EXPECT_LE(simulation.governor.rate(), 3U);
  EXPECT_TRUE(simulation.governor.is_limiting());
  simulation.run(900, 0.001, 0.004);
  EXPECT_EQ(simulation.governor.rate(), 99U);
  EXPECT_FALSE(simulation.governor.is_limiting());
}

TEST(Governor, DoesNotSwingWithALoadThatComesAndGoes) {
  Simulation simulation({});
  // Dear for 20 s of each minute.
  simulation.run(
      7200, [](int) { return 0.001; }, [](int i) { return i % 60 < 20 ? 0.03 : 0.004; });
  EXPECT_LE(simulation.governor.changes(), 7200U / 60 * 3);
  EXPECT_LE(simulation.highest, 0.012);
}

TEST(Governor, DoesNotGiveUpSamplesForACostThatIsThereAtAnyRate) {
  Simulation simulation({});
  simulation.run(300, 0.001, 0.004);
  simulation.run(900, 0.013, 0.004);  // programs start all the time
  EXPECT_EQ(simulation.governor.rate(), 61U) << "0.25 % of a core";
  EXPECT_TRUE(simulation.governor.is_holding());
  const uint64_t changes = simulation.governor.changes();
  simulation.run(3600, 0.013, 0.004);
  EXPECT_LE(simulation.governor.changes() - changes, 20U) << "tried again ever more rarely";
  simulation.run(900, 0.001, 0.004);
  EXPECT_EQ(simulation.governor.rate(), 99U);
  EXPECT_FALSE(simulation.governor.is_holding());
}

TEST(Governor, SamplesThatBecomeDearWhileItHoldsAreStillTakenLessOften) {
  Simulation simulation({});
  simulation.run(600, 0.013, 0.004);
  ASSERT_TRUE(simulation.governor.is_holding());
  const uint32_t held = simulation.governor.rate();
  simulation.run(240, 0.001, 0.2);
  EXPECT_LT(simulation.governor.rate(), held / 3);
  EXPECT_LE(simulation.governor.share(), 0.0101);
}

TEST(Governor, StaysBetweenItsBounds) {
  GovernorOptions options;
  options.min_rate = 11;
  options.max_rate = 49;
  Simulation simulation(options);
  EXPECT_EQ(simulation.governor.rate(), 49U);
  simulation.run(600, 0.5, 0.5);
  EXPECT_EQ(simulation.governor.rate(), 11U);
  simulation.run(3600, 0, 0);
  EXPECT_EQ(simulation.governor.rate(), 49U);
}

TEST(Governor, StartingUpIsNotHeldAgainstTheRate) {
  Governor governor({});
  CpuUsage usage;
  for (int i = 0; i < 29; ++i) {
    usage.wall_ns += kSecond;
    usage.own_ns += kSecond;  // a whole core
    EXPECT_EQ(governor.update(usage), 99U);
  }
}

TEST(Governor, CountersThatRestartAndAClockThatStandsDoNoHarm) {
  Simulation simulation({});
  simulation.run(60, 0.001, 0.004);
  simulation.usage.bpf_ns = 0;  // loaded anew
  simulation.update();
  simulation.run(60, 0.001, 0.004);
  EXPECT_EQ(simulation.governor.rate(), 99U);
  EXPECT_THAT(simulation.governor.share(), Lt(0.01));
}

}  // namespace
}  // namespace vesta::agent
