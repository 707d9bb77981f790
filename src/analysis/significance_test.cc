#include "analysis/significance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace vesta {
namespace {

TEST(ShareChange, AgreesWithFisherWhereCountsAreSmall) {
  // Sums of exact fractions over all tables that are no likelier. The first is Fisher's tea taster.
  const struct {
    ShareChange change;
    double p = 0;
  } known[] = {
      {{3, 4, 1, 4}, 0.4857142857142857},           {{8, 10, 1, 6}, 0.03496503496503497},
      {{0, 1000, 5, 1000}, 0.06218757851634881},    {{0, 100, 10, 100}, 0.0015420521254357006},
      {{2, 1000, 20, 2000}, 0.012509147610050893},  {{12, 1000, 0, 500}, 0.011265968579218529},
      {{1, 10, 400, 100'000}, 0.03938195218339577}, {{998, 1000, 985, 1000}, 0.0022575656828957825},
  };
  for (const auto& [change, p] : known) {
    EXPECT_NEAR(share_change_p_value(change), p, p * 1e-9);
    const ShareChange turned{change.part_after, change.whole_after, change.part_before,
                             change.whole_before};
    EXPECT_NEAR(share_change_p_value(turned), p, p * 1e-9);
  }
}

TEST(ShareChange, AgreesWithTheZTestWhereTheyAreLarge) {
  // erfc(|z| / sqrt 2), with the share of both sides together.
  EXPECT_NEAR(share_change_p_value({100, 1000, 130, 1000}), 0.03548845046647473, 1e-12);
  EXPECT_NEAR(share_change_p_value({500, 5000, 600, 5000}), 0.0013934041792054825, 1e-12);
  EXPECT_NEAR(share_change_p_value({3000, 10'000, 3050, 10'000}), 0.44147921136924684, 1e-12);
  EXPECT_NEAR(share_change_p_value({60, 400, 90, 410}), 0.010887474332757685, 1e-12);
  EXPECT_NEAR(share_change_p_value({9000, 10'000, 8800, 10'000}), 6.188458781738584e-06, 1e-15);
}

TEST(RateChange, AgreesWithTheBinomialTest) {
  // Of n events, those of one side, by its share of the exposure; all that are no likelier.
  EXPECT_NEAR(rate_change_p_value({0, 60, 5, 60}), 0.0625, 1e-6);
  EXPECT_NEAR(rate_change_p_value({3, 1, 0, 1}), 0.25, 1e-6);
  EXPECT_NEAR(rate_change_p_value({0, 3e9, 4, 1e9}), 0.00390625, 1e-6);
  EXPECT_NEAR(rate_change_p_value({4, 1e9, 0, 3e9}), 0.00390625, 1e-6);
  // Twice the events in twice the time are no change; 28 % more in the same time are.
  EXPECT_NEAR(rate_change_p_value({1000, 60, 2000, 120}), 1, 1e-6);
  EXPECT_LT(rate_change_p_value({1000, 60, 1280, 60}), 1e-6);
  EXPECT_EQ(rate_change_p_value({1000, 0, 1280, 60}), 1);
}

TEST(ShareChange, IsNoneWithoutSamplesOrDifference) {
  EXPECT_EQ(share_change_p_value({0, 0, 5, 10}), 1);
  EXPECT_EQ(share_change_p_value({5, 10, 0, 0}), 1);
  EXPECT_EQ(share_change_p_value({0, 100, 0, 100}), 1);
  EXPECT_EQ(share_change_p_value({100, 100, 50, 50}), 1);
  EXPECT_EQ(share_change_p_value({500, 1000, 500, 1000}), 1);
  EXPECT_EQ(share_change_p_value({0, 1e15, 1, 1e15}), 1);
}

TEST(ShareChange, SurvivesCountsThatMakeNoSense) {
  const double nan = std::nan("");
  for (const ShareChange& change :
       {ShareChange{-5, 10, 20, 10}, ShareChange{nan, nan, nan, nan},
        ShareChange{1e300, 1, 1, 1e300}, ShareChange{1, INFINITY, 1, 1},
        ShareChange{0.2, 0.4, 0.2, 0.4}, ShareChange{0, 1e18, 1e18, 1e18},
        ShareChange{24, 1e18, 0, 1e18}}) {
    const double p = share_change_p_value(change);
    EXPECT_GE(p, 0);
    EXPECT_LE(p, 1);
  }
  EXPECT_LT(share_change_p_value({0, 1e9, 1e9, 1e9}), 1e-300);
}

TEST(ShareChange, IsRarelySmallByChance) {
  // Under the null hypothesis p is below x in a share of x of all cases at most, small counts and
  // uneven sides included.
  std::mt19937_64 random(6);
  const struct {
    double share;
    int before;
    int after;
  } cases[] = {{0.0005, 1000, 1000}, {0.004, 1000, 1000}, {0.02, 500, 5000},
               {0.1, 2000, 2000},    {0.5, 300, 100},     {0.995, 1000, 3000}};
  constexpr int kRuns = 20'000;
  for (const auto& one : cases) {
    std::binomial_distribution<int> before(one.before, one.share);
    std::binomial_distribution<int> after(one.after, one.share);
    int below_5 = 0;
    int below_1 = 0;
    for (int i = 0; i < kRuns; ++i) {
      const double p = share_change_p_value(
          {static_cast<double>(before(random)), static_cast<double>(one.before),
           static_cast<double>(after(random)), static_cast<double>(one.after)});
      below_5 += p < 0.05 ? 1 : 0;
      below_1 += p < 0.01 ? 1 : 0;
    }
    // Four standard errors.
    EXPECT_LT(below_5, kRuns * 0.05 + 4 * std::sqrt(kRuns * 0.05 * 0.95)) << one.share;
    EXPECT_LT(below_1, kRuns * 0.01 + 4 * std::sqrt(kRuns * 0.01 * 0.99)) << one.share;
  }
}

TEST(QValues, AreThoseOfBenjaminiAndHochberg) {
  // R: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "BH") is 0.05 five times; the paper's own fifteen
  // p-values have four discoveries at 0.05.
  for (const double q : q_values(std::vector<double>{0.01, 0.02, 0.03, 0.04, 0.05}))
    EXPECT_DOUBLE_EQ(q, 0.05);
  const std::vector<double> paper = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                     0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0};
  const std::vector<double> q = q_values(paper);
  EXPECT_DOUBLE_EQ(q[0], 0.0015);
  EXPECT_DOUBLE_EQ(q[1], 0.003);
  EXPECT_DOUBLE_EQ(q[2], 0.0095);
  EXPECT_DOUBLE_EQ(q[3], 0.035625);
  EXPECT_EQ(std::ranges::count_if(q, [](double x) { return x < kSignificantQ; }), 4);
  EXPECT_EQ(q_values({}).size(), 0U);
  EXPECT_EQ(q_values(std::vector<double>{1, 0.5}), (std::vector<double>{1, 1}));
}

TEST(QValues, KeepTheirOrder) {
  const std::vector<double> q = q_values(std::vector<double>{0.9, 0.001, 0.5});
  EXPECT_DOUBLE_EQ(q[1], 0.003);
  EXPECT_DOUBLE_EQ(q[2], 0.75);
  EXPECT_DOUBLE_EQ(q[0], 0.9);
}

TEST(QValues, HoldTheirFalseDiscoveryRate) {
  // A thousand functions, most of them small, as in a profile of 20 000 samples; a tenth of them
  // changes by half or more. Shares of the others stay.
  std::mt19937_64 random(7);
  constexpr int kFunctions = 1000;
  constexpr int kChanged = 100;
  constexpr double kSamples = 20'000;
  constexpr int kRuns = 200;
  std::vector<double> expected(kFunctions);
  for (int i = 0; i < kFunctions; ++i) expected[static_cast<size_t>(i)] = 2000.0 / (i % 500 + 5);
  double false_share = 0;
  double found_share = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> p;
    for (int i = 0; i < kFunctions; ++i) {
      const double before = expected[static_cast<size_t>(i)];
      const double after = i < kChanged ? before * (i % 2 == 0 ? 2 : 0.5) : before;
      const double counted_before = std::poisson_distribution<int>(before)(random);
      const double counted_after = std::poisson_distribution<int>(after)(random);
      p.push_back(share_change_p_value({counted_before, kSamples, counted_after, kSamples}));
    }
    const std::vector<double> q = q_values(p);
    int found = 0;
    int wrong = 0;
    for (int i = 0; i < kFunctions; ++i) {
      if (q[static_cast<size_t>(i)] >= kSignificantQ) continue;
      (i < kChanged ? found : wrong) += 1;
    }
    false_share += found + wrong == 0 ? 0 : static_cast<double>(wrong) / (found + wrong);
    found_share += static_cast<double>(found) / kChanged;
  }
  EXPECT_LT(false_share / kRuns, kSignificantQ);
  EXPECT_GT(found_share / kRuns, 0.5);
}

}  // namespace
}  // namespace vesta
