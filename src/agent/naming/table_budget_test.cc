#include "agent/naming/table_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace vesta::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Opens what is asked for and not open, as a symbolizer does, and counts that.
class Opener {
 public:
  explicit Opener(uint64_t max_bytes) : budget(max_bytes) {}

  void ask(uint32_t table, uint64_t bytes) {
    budget.use(table);
    if (!is_open[table]) ++opens;
    is_open[table] = true;
    for (const uint32_t closed : budget.resize(table, bytes)) is_open[closed] = false;
  }

  TableBudget budget;
  std::map<uint32_t, bool> is_open;
  int opens = 0;
};

TEST(TableBudget, TablesThatFitStayOpen) {
  Opener opener(100);
  for (int round = 0; round < 50; ++round) {
    for (uint32_t table = 1; table <= 10; ++table) opener.ask(table, 10);
    opener.budget.age();
  }
  EXPECT_EQ(opener.opens, 10);
  EXPECT_EQ(opener.budget.bytes(), 100U);
}

TEST(TableBudget, ALargeTableDoesNotCloseTheSmallOnesInUse) {
  Opener opener(100);
  constexpr int kRounds = 50;
  for (int round = 0; round < kRounds; ++round) {
    for (uint32_t table = 1; table <= 9; ++table) opener.ask(table, 10);
    opener.ask(10, 95);   // fits the budget, but not beside what is in use
    opener.ask(11, 500);  // does not fit it at all
    opener.budget.age();
    for (uint32_t table = 1; table <= 9; ++table) ASSERT_TRUE(opener.is_open[table]);
  }
  // Two large guests take turns; all others were opened once.
  EXPECT_EQ(opener.opens, 9 + 2 * kRounds);
}

TEST(TableBudget, ALargeTableAloneStaysOpenAsGuest) {
  Opener opener(100);
  for (int round = 0; round < 50; ++round) {
    for (uint32_t table = 1; table <= 9; ++table) opener.ask(table, 10);
    opener.ask(11, 500);
    opener.budget.age();
  }
  EXPECT_EQ(opener.opens, 10);
  EXPECT_EQ(opener.budget.bytes(), 590U);
}

TEST(TableBudget, WhatIsUsedOnceTakesTheirPlaceFromNone) {
  Opener opener(100);
  for (int round = 0; round < 10; ++round) {
    for (uint32_t table = 1; table <= 10; ++table) opener.ask(table, 10);
    opener.budget.age();
  }
  for (uint32_t table = 100; table < 200; ++table) opener.ask(table, 10);
  for (uint32_t table = 1; table <= 10; ++table) EXPECT_TRUE(opener.is_open[table]);
  EXPECT_LE(opener.budget.bytes(), 125U);
}

TEST(TableBudget, SmallGuestsStayBesideEachOther) {
  Opener opener(100);
  for (int round = 0; round < 50; ++round) {
    for (uint32_t table = 1; table <= 12; ++table) opener.ask(table, 10);
    opener.budget.age();
  }
  EXPECT_EQ(opener.opens, 12);
}

TEST(TableBudget, WhatIsNoLongerUsedMakesRoom) {
  Opener opener(100);
  for (int round = 0; round < 10; ++round) {
    opener.ask(1, 60);
    opener.budget.age();
  }
  for (int round = 0; round < 100; ++round) {
    opener.ask(2, 60);
    opener.budget.age();
  }
  EXPECT_TRUE(opener.is_open[2]);
  opener.ask(3, 50);  // as a guest, in the place of the one that is no longer used
  EXPECT_FALSE(opener.is_open[1]);
  EXPECT_EQ(opener.opens, 3);
}

TEST(TableBudget, TablesThatGrowStayWithinIt) {
  Opener opener(100);
  for (uint64_t bytes = 1; bytes <= 60; ++bytes) {
    opener.ask(1, bytes);
    opener.ask(2, bytes);
  }
  // One of them keeps its place; the other is the guest, and nothing is opened again.
  EXPECT_EQ(opener.opens, 2);
  opener.ask(3, 10);
  opener.ask(4, 90);
  EXPECT_LE(opener.budget.bytes(), 100U + 25U + 90U);
}

TEST(TableBudget, ASmallerBudgetClosesTheLeastUsedFirst) {
  Opener opener(100);
  for (int round = 0; round < 5; ++round) {
    opener.ask(1, 40);
    opener.budget.age();
  }
  opener.ask(2, 40);
  EXPECT_THAT(opener.budget.set_max_bytes(50), ElementsAre(2));
  EXPECT_THAT(opener.budget.set_max_bytes(45), IsEmpty());
  opener.budget.forget(1);
  EXPECT_EQ(opener.budget.bytes(), 0U);
}

}  // namespace
}  // namespace vesta::agent
