// Sums of weights are sums of waits: whatever theta, the switch rate, the number of threads and the
// length of windows are. By simulation with the very functions that the kernel side uses; seeds are
// fixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <wait_weight.h>
#include "agent/probes/off_cpu/take_rate.h"

namespace {

std::mt19937_64& generator() {
  static std::mt19937_64 random(1);
  return random;
}

}  // namespace

// shared/off_cpu.h asks for it.
static __u64 vesta_random() {
  return generator()();
}

namespace vesta::agent {
namespace {

constexpr double kSigmas = 5;

// The waits of a thread.
struct Thread {
  vesta_stretch stretch{};
  double truth = 0;
  double sum = 0;
  uint64_t takes = 0;

  uint64_t add(uint64_t ns, uint64_t theta) {
    const uint64_t weight = vesta_wait_weight(&stretch, ns, theta);
    truth += static_cast<double>(ns);
    sum += static_cast<double>(weight);
    if (weight != 0) ++takes;
    return weight;
  }
};

// Each thread's sum is off by less than one theta, so those of many nearly cancel out.
void expect_true_sum(double sum, double truth, size_t threads, uint64_t theta) {
  const double sigma = static_cast<double>(theta) / 2 * std::sqrt(static_cast<double>(threads));
  const double bound = kSigmas * sigma;
  EXPECT_LE(std::abs(sum - truth), bound) << "truth " << truth << ", sum " << sum;
}

// Log-normal, as waits are: most are short, and a few long ones hold the time.
uint64_t wait_ns(double median_ns, std::mt19937_64& random) {
  std::lognormal_distribution<double> wait(std::log(median_ns), 1.2);
  return 1 + static_cast<uint64_t>(wait(random));
}

TEST(OffCpuEstimator, TotalsDoNotDependOnSwitchRateThetaOrThreads) {
  std::mt19937_64 random(1);
  for (const double median_ns : {3e3, 1e5, 1e7, 1e9}) {
    for (const uint64_t theta : {100'000ULL, 10'000'000ULL, 2'000'000'000ULL}) {
      for (const size_t count : {1U, 16U, 500U}) {
        SCOPED_TRACE(testing::Message() << median_ns << " " << theta << " " << count);
        std::vector<Thread> threads(count);
        double sum = 0;
        double truth = 0;
        for (Thread& thread : threads) {
          for (int i = 0; i < 200; ++i) thread.add(wait_ns(median_ns, random), theta);
          EXPECT_LE(std::abs(thread.sum - thread.truth), static_cast<double>(theta));
          sum += thread.sum;
          truth += thread.truth;
        }
        expect_true_sum(sum, truth, count, theta);
      }
    }
  }
}

TEST(OffCpuEstimator, CutsChangeNoTotal) {
  std::mt19937_64 random(2);
  constexpr uint64_t kTheta = 50'000'000;
  for (const uint64_t window : {20'000'000ULL, 1'000'000'000ULL, 10'000'000'000ULL}) {
    SCOPED_TRACE(window);
    Thread thread;
    for (int i = 0; i < 5000; ++i) {
      uint64_t left = wait_ns(3e8, random);
      uint64_t until_cut = 1 + random() % window;
      while (left > until_cut) {
        thread.add(until_cut, kTheta);
        left -= until_cut;
        until_cut = window;
      }
      thread.add(left, kTheta);
    }
    EXPECT_LT(std::abs(thread.sum - thread.truth), static_cast<double>(kTheta));
  }
}

TEST(OffCpuEstimator, WaitsThatAreTakenForSureAreExact) {
  std::mt19937_64 random(3);
  Thread thread;
  for (int i = 0; i < 10000; ++i) thread.add(1'000'000 + random() % 1'000'000, 1'000'000);
  EXPECT_EQ(thread.sum, thread.truth);
}

TEST(OffCpuEstimator, TheBurstThatFoolsABudgetByThreadDoesNotFoolIt) {
  // Ten waits of 20 µs, then one of 100 ms, again and again.
  Thread thread;
  double long_ones = 0;
  for (int i = 0; i < 1000; ++i) {
    for (int j = 0; j < 10; ++j) thread.add(20'000, 100'000'000);
    long_ones += static_cast<double>(thread.add(100'000'000, 100'000'000));
  }
  EXPECT_EQ(long_ones, 1e11);
  EXPECT_LT(std::abs(thread.sum - thread.truth), 1e8);
}

TEST(OffCpuEstimator, StacksThatTakeTurnsInStepWithThetaGetTheirShare) {
  // 3 ms in one place and 2 ms in another, and a theta that is the sum of both.
  constexpr uint64_t kTheta = 5'000'000;
  constexpr int kTurns = 20'000;
  Thread thread;
  double first = 0;
  for (int i = 0; i < kTurns; ++i) {
    first += static_cast<double>(thread.add(3'000'000, kTheta));
    thread.add(2'000'000, kTheta);
  }
  const double sigma = kTheta * std::sqrt(kTurns * 0.6 * 0.4);
  EXPECT_NEAR(first, 3e6 * kTurns, kSigmas * sigma);
}

TEST(OffCpuEstimator, CountsAreUnbiasedThoughTheyAreWhole) {
  constexpr uint64_t kTheta = 1'000'000;
  for (const uint64_t ns : {700ULL, 300'001ULL, 700'000ULL, 999'999ULL, 5'000'000ULL}) {
    constexpr int kWaits = 200'000;
    Thread thread;
    double sum = 0;
    for (int i = 0; i < kWaits; ++i) {
      const uint64_t weight = thread.add(ns, kTheta);
      sum += static_cast<double>(weight == 0 ? 0 : vesta_wait_count(ns, weight));
    }
    // Weights are off by one theta in all, and each rounding by less than one half in the mean.
    const double bound = static_cast<double>(kTheta) / static_cast<double>(ns) + 1 +
                         kSigmas * std::sqrt(static_cast<double>(thread.takes)) / 2;
    EXPECT_NEAR(sum, kWaits, bound) << ns;
  }
}

// As bpf/off_cpu.bpf.c does it: the blocked part at the wake-up, and the other when the thread runs.
TEST(OffCpuEstimator, WakersGetTheTimeThatTheyEndedAndWaitsAreCountedOnce) {
  constexpr uint64_t kTheta = 5'000'000;
  constexpr int kWaits = 40'000;
  std::mt19937_64 random(9);
  struct Waker {
    double median_ns = 0;
    double truth = 0;
    double sum = 0;
    double squares = 0;  // of what one take may be off
    double count = 0;
    double count_squares = 0;
  };
  std::vector<Waker> wakers = {{2e5}, {1e6}, {8e6}};
  Thread thread;
  for (int i = 0; i < kWaits * 3; ++i) {
    Waker& waker = wakers[random() % 3];
    const uint64_t blocked = wait_ns(waker.median_ns, random);
    const uint64_t weight = thread.add(blocked, kTheta);
    const double chance = std::min(1.0, static_cast<double>(blocked) / kTheta);
    waker.truth += static_cast<double>(blocked);
    waker.sum += static_cast<double>(weight);
    waker.squares += chance * (1 - chance) * kTheta * kTheta;
    // Of futex waits always by this part, however long the other is.
    waker.count += static_cast<double>(weight == 0 ? 0 : vesta_wait_count(blocked, weight)) - 1;
    waker.count_squares += (1 - chance) / chance + 1;
    thread.add(wait_ns(3e5, random), kTheta);
  }
  EXPECT_LT(std::abs(thread.sum - thread.truth), kTheta);
  for (const Waker& waker : wakers) {
    EXPECT_NEAR(waker.sum, waker.truth, kSigmas * std::sqrt(waker.squares)) << waker.median_ns;
    EXPECT_NEAR(waker.count, 0, kSigmas * std::sqrt(waker.count_squares)) << waker.median_ns;
  }
}

// As bpf/off_cpu.bpf.c does it for waits whose stack has to be taken before them.
TEST(OffCpuEstimator, StacksThatMustBeTakenBeforeTheWaitAreThereForMostOfTheTime) {
  std::mt19937_64 random(6);
  for (const double median_ns : {2e4, 3e6, 4e7}) {
    for (const uint64_t theta : {1'000'000ULL, 100'000'000ULL}) {
      SCOPED_TRACE(testing::Message() << median_ns << " " << theta);
      uint64_t expected = 0;
      Thread thread;
      double with_stack = 0;
      for (int i = 0; i < 50'000; ++i) {
        const bool has_stack = vesta_may_be_taken(&thread.stretch, expected, theta) != 0;
        const uint64_t ns = wait_ns(median_ns, random);
        const uint64_t weight = thread.add(ns, theta);
        if (has_stack) with_stack += static_cast<double>(weight);
        expected = vesta_expect(expected, ns, 3);
      }
      EXPECT_LE(std::abs(thread.sum - thread.truth), static_cast<double>(theta));
      EXPECT_GT(with_stack, 0.8 * thread.sum);
    }
  }
}

TEST(OffCpuEstimator, NoStackIsTakenBeforeAWaitThatCannotBeTaken) {
  vesta_stretch stretch{1'000'000, 0, 900'000};
  EXPECT_FALSE(vesta_may_be_taken(&stretch, 100'000, 1'000'000));
  EXPECT_TRUE(vesta_may_be_taken(&stretch, 120'000, 1'000'000));
  stretch.at_ns = 950'000;  // the point is behind; the next is at least 50 µs away
  EXPECT_FALSE(vesta_may_be_taken(&stretch, 6'000, 1'000'000));
  EXPECT_TRUE(vesta_may_be_taken(&stretch, 7'000, 1'000'000));
  EXPECT_TRUE(vesta_may_be_taken(&stretch, 0, 1'000'000)) << "nothing is known yet";
}

// A second of a load: waits of one kind by each thread.
uint64_t wait_a_second(std::vector<Thread>& threads, double median_ns, uint64_t theta,
                       std::mt19937_64& random) {
  uint64_t takes = 0;
  for (Thread& thread : threads) {
    const uint64_t before = thread.takes;
    double left = 1e9;
    while (left > 0) {
      const double ns = std::min(left, static_cast<double>(wait_ns(median_ns, random)));
      thread.add(static_cast<uint64_t>(ns) + 1, theta);
      left -= ns + 1;
    }
    takes += thread.takes - before;
  }
  return takes;
}

TEST(TakeRate, HoldsItsBudgetAndNoTotalChanges) {
  for (const uint32_t budget : {100U, 1000U}) {
    for (const size_t count : {2U, 40U}) {
      SCOPED_TRACE(testing::Message() << budget << " " << count);
      std::mt19937_64 random(7);
      TakeRate rate(budget, count);
      std::vector<Thread> threads(count);
      double bound = 0;
      for (int second = 0; second < 20; ++second) {
        // The load changes in the middle, by a factor of a hundred.
        const double median_ns = second < 10 ? 4e6 : 4e4;
        const uint64_t theta = rate.theta_ns();
        const uint64_t takes = wait_a_second(threads, median_ns, theta, random);
        if (second % 10 > 7) {
          EXPECT_LE(takes, budget * 3 / 2);
        }
        rate.update(takes, 1'000'000'000);
        // Each change of theta cuts a stretch of each thread short.
        if (rate.theta_ns() != theta) bound += static_cast<double>(theta);
      }
      bound += static_cast<double>(rate.theta_ns());
      double sum = 0;
      double truth = 0;
      for (const Thread& thread : threads) {
        EXPECT_LE(std::abs(thread.sum - thread.truth), bound);
        sum += thread.sum;
        truth += thread.truth;
      }
      EXPECT_NEAR(sum, truth, bound * std::sqrt(static_cast<double>(count)));
    }
  }
}

TEST(TakeRate, StartsWithinTheBudgetHoweverManyThreadsThereAre) {
  std::mt19937_64 random(8);
  const TakeRate rate(1000, 1000);
  EXPECT_EQ(rate.theta_ns(), 1'000'000'000U);
  std::vector<Thread> threads(1000);
  EXPECT_LE(wait_a_second(threads, 3e6, rate.theta_ns(), random), 1100U);
}

TEST(TakeRate, AnAgentThatCostsTooMuchTakesFewer) {
  EXPECT_EQ(next_takes(1000, 1.2), 500U);
  EXPECT_EQ(next_takes(500, 0.8), 500U);
  EXPECT_EQ(next_takes(500, 0.3), 1000U);
  EXPECT_EQ(next_takes(1000, 0.3), 1000U);
  EXPECT_EQ(next_takes(kMinTakes, 5), kMinTakes);
}

TEST(TakeRate, ASmallerBudgetRaisesTheta) {
  TakeRate rate(1000, 10);
  rate.set_budget(100);
  const uint64_t before = rate.theta_ns();
  rate.update(800, 1'000'000'000);  // was right for the old one
  EXPECT_GT(rate.theta_ns(), 4 * before);
}

TEST(TakeRate, StaysWithinItsBounds) {
  TakeRate rate(1000, 1);
  for (int i = 0; i < 50; ++i) rate.update(0, 1'000'000'000);
  EXPECT_EQ(rate.theta_ns(), TakeRate::kMinThetaNs);
  for (int i = 0; i < 50; ++i) rate.update(100'000'000, 1'000'000'000);
  EXPECT_EQ(rate.theta_ns(), TakeRate::kMaxThetaNs);
  const uint64_t before = rate.theta_ns();
  rate.update(5, 0);
  EXPECT_EQ(rate.theta_ns(), before) << "no time went by";
}

}  // namespace
}  // namespace vesta::agent
