#include "agent/limits/governor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace vesta::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::Lt;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr int kMinute = 60;
constexpr int kHour = 3600;

// An agent whose cost is a part that is always there and one for each sample, in shares of a core.
// Six tenths of the latter are of its threads. `noise` is the relative deviation of each second.
struct Simulation {
  explicit Simulation(const GovernorOptions& options = {}, double with_noise = 0, uint32_t seed = 7)
      : governor(options), noise(with_noise), random(seed) {
    usage.probes.resize(options.rates.size());
    update();
    usage.wall_ns += options.warm_up_ns;
    update();
  }

  void update() { governor.update(usage); }
  double noisy(double value) {
    if (noise == 0) return value;
    return std::gamma_distribution<double>(1 / (noise * noise), value * noise * noise)(random);
  }
  // One second in which a probe costs so much of a core at 99 Hz, with so many samples a tick.
  void run_probe(size_t probe, double per_99, double per_tick = 4) {
    const double samples = per_99 * governor.rate(probe) / 99.0;
    usage.own_ns += static_cast<uint64_t>(noisy(samples * 0.6) * static_cast<double>(kSecond));
    usage.probes[probe].bpf_ns +=
        static_cast<uint64_t>(noisy(samples * 0.4) * static_cast<double>(kSecond));
    usage.probes[probe].samples += static_cast<uint64_t>(per_tick * governor.rate(probe));
  }
  void run(int seconds, const std::function<double(int)>& fixed,
           const std::function<double(int)>& per_99) {
    for (int i = 0; i < seconds; ++i) {
      usage.wall_ns += kSecond;
      usage.own_ns += static_cast<uint64_t>(noisy(fixed(i)) * static_cast<double>(kSecond));
      run_probe(0, per_99(i));
      update();
      lowest_rate = std::min(lowest_rate, governor.rate());
      all_rates += governor.rate();
    }
  }
  void run(int seconds, double fixed, double per_99) {
    run(
        seconds, [=](int) { return fixed; }, [=](int) { return per_99; });
  }
  // Of two probes. A sample costs the same whoever made it: a dear probe makes many.
  void run_two(int seconds, double first, double second) {
    for (int i = 0; i < seconds; ++i) {
      usage.wall_ns += kSecond;
      run_probe(0, first, 2000 * first);
      run_probe(1, second, 2000 * second);
      update();
    }
  }

  Governor governor;
  CpuUsage usage;
  double noise;
  std::mt19937 random;
  uint32_t lowest_rate = UINT32_MAX;
  double all_rates = 0;  // of each second, added up
};

// Of seven hours, and of ten hosts.
double mean_rate(double fixed, double per_99, double noise) {
  double all = 0;
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    Simulation simulation({}, noise, seed);
    simulation.run(7 * kHour, fixed, per_99);
    all += simulation.all_rates;
  }
  return all / (10 * 7 * kHour);
}

GovernorOptions two_probes() {
  GovernorOptions options;
  options.rates = {{19, 99}, {19, 99}};
  return options;
}

TEST(Governor, LadderGoesFromTheLeastToTheConfiguredRate) {
  EXPECT_THAT(Governor::ladder(1, 99), ElementsAre(1, 3, 5, 7, 11, 19, 29, 37, 47, 61, 79, 99));
  EXPECT_THAT(Governor::ladder(10, 50), ElementsAre(10, 11, 19, 29, 37, 47, 50));
  EXPECT_THAT(Governor::ladder(1, 1), ElementsAre(1));
  EXPECT_THAT(Governor::ladder(50, 20), ElementsAre(20)) << "never above the configured one";
  EXPECT_EQ(Governor::ladder(0, 999).back(), 999U);
  EXPECT_TRUE(std::ranges::is_sorted(Governor::ladder(1, 10000)));
}

TEST(Governor, WithinTheBudgetNothingChanges) {
  for (const double noise : {0.0, 0.5, 1.0}) {
    Simulation simulation({}, noise);
    simulation.run(4 * kHour, 0.002, 0.005);
    EXPECT_EQ(simulation.governor.rate(), 99U);
    EXPECT_EQ(simulation.governor.changes(), 0U);
    EXPECT_NEAR(simulation.governor.share(), 0.007, 0.003);
  }
}

// Whatever a constant cost is made of, and however much it varies from second to second.
TEST(Governor, ComesToRestUnderAnyConstantLoad) {
  for (const double noise : {0.0, 0.3, 1.0}) {
    for (const double fixed : {0.0, 0.003, 0.009, 0.013, 0.05}) {
      for (const double per_99 : {0.0007, 0.008, 0.0101, 0.02, 0.2}) {
        SCOPED_TRACE(testing::Message() << fixed << " + " << per_99 << " noise " << noise);
        Simulation simulation({}, noise);
        simulation.run(kHour, fixed, per_99);
        EXPECT_LE(simulation.governor.changes(), 5U);
        const uint64_t changes = simulation.governor.changes();
        simulation.run(6 * kHour, fixed, per_99);
        EXPECT_LE(simulation.governor.changes() - changes, noise < 1 ? 5U : 12U) << "in six hours";
        EXPECT_GE(simulation.lowest_rate, 19U);
        const double cost = fixed + per_99 * simulation.governor.rate() / 99;
        const double least = fixed + per_99 * 19 / 99;
        if (least < 0.009 && noise < 1) {
          EXPECT_LE(cost, 0.0102) << simulation.governor.rate();
        }
      }
    }
  }
}

TEST(Governor, IsAsHighAsTheBudgetAllows) {
  for (const double per_99 : {0.012, 0.02, 0.04}) {
    SCOPED_TRACE(per_99);
    Simulation simulation({}, 0.3);
    simulation.run(kHour, 0.001, per_99);
    const double affordable = 0.009 / per_99 * 99;
    EXPECT_GE(simulation.governor.rate(), affordable * 0.6);
    EXPECT_LE(simulation.governor.rate(), affordable * 1.05);
  }
}

TEST(Governor, DoesNotGiveUpSamplesThatCostNextToNothing) {
  // The case that was seen: 0.07 % of a core for samples, and much more for the rest.
  Simulation simulation({}, 0.5);
  simulation.run(4 * kHour, 0.03, 0.0007);
  EXPECT_EQ(simulation.governor.rate(), 99U);
  EXPECT_LE(simulation.governor.changes(), 4U);
  EXPECT_TRUE(simulation.governor.is_fixed_over());
  EXPECT_NEAR(simulation.governor.fixed_share(), 0.03, 0.01);
  EXPECT_LT(simulation.governor.sample_share(), 0.005);
}

// What a lowering saves here is less than what the cost differs by from one minute to the next.
TEST(Governor, NoiseDoesNotOverturnATrueSaving) {
  EXPECT_LE(mean_rate(0.03, 0.02, 0), 21);
  EXPECT_LE(mean_rate(0.03, 0.02, 0.3), 22);
  EXPECT_LE(mean_rate(0.03, 0.02, 1), 30);
}

TEST(Governor, ALoweringThatSavesNothingIsUndoneInAnyNoise) {
  for (const double fixed : {0.013, 0.03}) {
    for (const double noise : {0.0, 0.3, 1.0}) {
      SCOPED_TRACE(testing::Message() << fixed << " noise " << noise);
      EXPECT_GE(mean_rate(fixed, 0.0007, noise), 94);
    }
  }
}

TEST(CostAtRates, TellsADifferenceFromNoise) {
  CostAtRates before;
  CostAtRates after(100 * kSecond);
  EXPECT_GT(CostAtRates::standard_error(before, after), 1e9) << "nothing is known";
  for (uint64_t i = 1; i <= 100; ++i) before.add(i * kSecond, 1, i <= 50 ? 300 : 500, 10);
  EXPECT_EQ(before.blocks(), 5U) << "of 20 s";
  EXPECT_EQ(before.own_ns(), 400);
  EXPECT_EQ(before.samples(), 10);
  EXPECT_FALSE(after.add(100 * kSecond, 1, 1000, 10)) << "not of these rates yet";
  for (uint64_t i = 101; i <= 200; ++i) after.add(i * kSecond, 1, 200, 5);
  EXPECT_EQ(after.own_ns(), 200);
  // Means of blocks: 300, 300, 400, 500, 500; and no difference at all in the other.
  const double variance = (4 * 100.0 * 100.0) / (400.0 * 400.0) / 8;
  EXPECT_NEAR(CostAtRates::standard_error(before, after),
              std::sqrt(variance * (400.0 * 400.0 + 200.0 * 200.0) / 5), 1e-6);
}

TEST(Governor, AStormOfProcessStartsAfterAQuietTimeChangesNothing) {
  Simulation simulation({}, 0.5);
  simulation.run(10 * kMinute, 0.0005, 0.004);
  simulation.run(20 * kMinute, 0.04, 0.004);
  EXPECT_EQ(simulation.governor.changes(), 0U);
  EXPECT_TRUE(simulation.governor.is_fixed_over());
  simulation.run(10 * kMinute, 0.0005, 0.004);
  EXPECT_EQ(simulation.governor.changes(), 0U);
  EXPECT_FALSE(simulation.governor.is_fixed_over());
}

TEST(Governor, SamplesThatBecomeDearAreTakenLessOftenEvenInAStorm) {
  Simulation simulation({}, 0.3);
  simulation.run(20 * kMinute, 0.013, 0.004);
  EXPECT_EQ(simulation.governor.rate(), 99U);
  simulation.run(30 * kMinute, 0.013, 0.2);
  EXPECT_EQ(simulation.governor.rate(), 19U);
}

TEST(Governor, FollowsALoadThatChangesForGood) {
  Simulation simulation({}, 0.3);
  simulation.run(10 * kMinute, 0.001, 0.004);
  EXPECT_EQ(simulation.governor.rate(), 99U);
  simulation.run(8 * kMinute, 0.001, 0.03);
  EXPECT_LE(simulation.governor.rate(), 29U);
  EXPECT_TRUE(simulation.governor.is_limiting());
  simulation.run(30 * kMinute, 0.001, 0.004);
  EXPECT_EQ(simulation.governor.rate(), 99U);
  EXPECT_LE(simulation.governor.changes(), 8U);
}

TEST(Governor, DoesNotSwingWithALoadThatComesAndGoes) {
  for (const int period : {20, 60, 300, 900, 3600}) {
    SCOPED_TRACE(period);
    Simulation simulation({}, 0.3);
    // Dear for a third of the time.
    simulation.run(
        8 * kHour, [](int) { return 0.001; },
        [=](int i) { return i % period < period / 3 ? 0.03 : 0.004; });
    EXPECT_LE(simulation.governor.changes(), 8 * 6U) << "six an hour";
    EXPECT_GE(simulation.lowest_rate, 19U);
  }
}

TEST(Governor, BurstsOfStartsDoNotLowerTheRate) {
  Simulation simulation({}, 0.5);
  // A build of two minutes every ten.
  simulation.run(
      8 * kHour, [](int i) { return i % 600 < 120 ? 0.05 : 0.001; }, [](int) { return 0.004; });
  EXPECT_LE(simulation.governor.changes(), 4U);
  EXPECT_GE(simulation.lowest_rate, 47U);
}

TEST(Governor, StaysBetweenItsBounds) {
  GovernorOptions options;
  options.rates = {{11, 49}};
  Simulation simulation(options);
  EXPECT_EQ(simulation.governor.rate(), 49U);
  simulation.run(10 * kMinute, 0, 0.5);
  EXPECT_EQ(simulation.governor.rate(), 11U);
  simulation.run(kHour, 0, 0.0001);
  EXPECT_EQ(simulation.governor.rate(), 49U);
}

TEST(Governor, StartingUpIsNotHeldAgainstTheRate) {
  Governor governor({});
  CpuUsage usage;
  usage.probes.resize(1);
  for (int i = 0; i < 29; ++i) {
    usage.wall_ns += kSecond;
    usage.own_ns += kSecond;  // a whole core
    governor.update(usage);
    EXPECT_EQ(governor.rate(), 99U);
  }
}

TEST(Governor, CountersThatRestartAndAClockThatStandsDoNoHarm) {
  Simulation simulation;
  simulation.run(kMinute, 0.001, 0.004);
  simulation.usage.probes[0] = {};  // loaded anew
  simulation.update();
  simulation.run(kMinute, 0.001, 0.004);
  EXPECT_EQ(simulation.governor.rate(), 99U);
  EXPECT_THAT(simulation.governor.share(), Lt(0.01));
}

TEST(Governor, OfTwoProbesTheDearOneIsLowered) {
  for (const double noise : {0.0, 0.3}) {
    Simulation simulation(two_probes(), noise);
    simulation.run_two(kHour, 0.002, 0.03);
    EXPECT_EQ(simulation.governor.rate(0), 99U) << "the cheap one stays";
    EXPECT_LE(simulation.governor.rate(1), 29U);
    const double cost = 0.002 + 0.03 * simulation.governor.rate(1) / 99;
    EXPECT_LE(cost, 0.0102);
    EXPECT_TRUE(simulation.governor.is_limiting());
    simulation.run_two(kHour, 0.002, 0.003);
    EXPECT_EQ(simulation.governor.rate(1), 99U) << "and rises again";
  }
}

TEST(Governor, TwoDearProbesShareTheBudget) {
  Simulation simulation(two_probes());
  simulation.run_two(kHour, 0.02, 0.02);
  EXPECT_EQ(simulation.governor.rate(0), simulation.governor.rate(1));
  EXPECT_LE(0.04 * simulation.governor.rate(0) / 99, 0.0102);
  // What one does not need is for the other.
  Simulation uneven(two_probes());
  uneven.run_two(kHour, 0.006, 0.012);
  EXPECT_LE((0.006 * uneven.governor.rate(0) + 0.012 * uneven.governor.rate(1)) / 99, 0.0102);
  EXPECT_GE(uneven.governor.rate(0), uneven.governor.rate(1));
}

TEST(Governor, TwoProbesComeToRestUnderAnyConstantLoad) {
  for (const double first : {0.0007, 0.008, 0.02, 0.2}) {
    for (const double second : {0.0007, 0.008, 0.02, 0.2}) {
      SCOPED_TRACE(testing::Message() << first << " + " << second);
      Simulation simulation(two_probes(), 0.3);
      simulation.run_two(kHour, first, second);
      const uint64_t changes = simulation.governor.changes();
      EXPECT_LE(changes, 8U);
      simulation.run_two(6 * kHour, first, second);
      EXPECT_LE(simulation.governor.changes() - changes, 8U) << "in six hours";
    }
  }
}

TEST(Governor, ProgramsThatNoRateChangesAreFixedCost) {
  Simulation simulation;
  for (int i = 0; i < kHour; ++i) {
    simulation.usage.other_bpf_ns += kSecond / 50;  // twice the budget
    simulation.run(1, 0, 0.002);
  }
  EXPECT_EQ(simulation.governor.rate(), 99U);
  EXPECT_TRUE(simulation.governor.is_fixed_over());
  EXPECT_NEAR(simulation.governor.fixed_share(), 0.02, 0.002);
}

TEST(SampleCostBound, IsTheLeastOfTheLastHalfHour) {
  SampleCostBound bound;
  EXPECT_GT(bound.ns(), 1e9);
  uint64_t now = kSecond;
  bound.add(now, 1'000'000, 1000);
  EXPECT_EQ(bound.ns(), 1000);
  bound.add(now += kSecond, 5'000'000, 1000);
  EXPECT_EQ(bound.ns(), 1000);
  bound.add(now += 20 * 60 * kSecond, 5'000'000, 1000);
  EXPECT_EQ(bound.ns(), 1000);
  bound.add(now += 20 * 60 * kSecond, 6'000'000, 1000);
  EXPECT_EQ(bound.ns(), 5000);
  bound.add(now += 10 * 3600 * kSecond, 7'000'000, 1000);
  EXPECT_EQ(bound.ns(), 7000);
  bound.add(now += kSecond, 0, 100);  // too few to tell
  EXPECT_EQ(bound.ns(), 7000);
}

}  // namespace
}  // namespace vesta::agent
