#include "base/memory_account.h"

#include <gtest/gtest.h>

namespace vesta {
namespace {

TEST(MemoryAccountTest, GivesBackWhatItTook) {
  MemoryBudget budget(100);
  {
    MemoryAccount account(&budget);
    EXPECT_TRUE(account.take(60));
    EXPECT_TRUE(account.take(40));
    EXPECT_EQ(account.take(1).error().code, ErrorCode::kTooMany);
    account.give(10);
    EXPECT_EQ(budget.used(), 90U);
  }
  EXPECT_EQ(budget.used(), 0U);
}

TEST(MemoryAccountTest, WorkThatIsTooLargeRunsAlone) {
  MemoryBudget budget(100);
  MemoryBudget::Lease body(budget);
  ASSERT_TRUE(body.resize(50));
  MemoryAccount large(&budget, body.bytes());
  {
    MemoryAccount other(&budget);
    ASSERT_TRUE(other.take(1));
    EXPECT_EQ(large.take_or_alone(200).error().code, ErrorCode::kTooMany);
  }
  EXPECT_TRUE(large.take_or_alone(200));
  MemoryAccount other(&budget);
  EXPECT_FALSE(other.take(1).ok()) << "nobody else gets in meanwhile";
  EXPECT_FALSE(other.take_or_alone(1).ok());
}

TEST(MemoryBudgetTest, OneHolderLeavesRoomForOthers) {
  MemoryBudget budget(100, 20);
  MemoryBudget::Lease greedy(budget, budget.holder("a"));
  EXPECT_TRUE(greedy.resize(80));
  EXPECT_FALSE(greedy.resize(81));
  MemoryBudget::Lease same(budget, budget.holder("a"));
  EXPECT_FALSE(same.resize(1)) << "what counts is the holder, not the lease";
  MemoryBudget::Lease small(budget, budget.holder("b"));
  EXPECT_TRUE(small.resize(10));
  EXPECT_FALSE(small.resize(11)) << "nor does another one take all that is kept back";
  MemoryBudget::Lease third(budget, budget.holder("c"));
  EXPECT_TRUE(third.resize(10));
  greedy.resize(0);
  EXPECT_TRUE(small.resize(70));
  EXPECT_EQ(budget.used(), 80U);
}

TEST(MemoryBudgetTest, ALeaseIsAssignedWithWhatItHas) {
  MemoryBudget budget(100, 20);
  const MemoryBudget::HolderPtr holder = budget.holder("a");
  MemoryBudget::Lease lease(budget);
  EXPECT_TRUE(lease.resize(30));
  lease.assign(holder);
  EXPECT_EQ(holder->used(), 30U);
  {
    MemoryAccount account(&budget, lease.bytes(), lease.holder());
    EXPECT_TRUE(account.take(20));
    EXPECT_TRUE(account.take_or_alone(200)) << "all that is used is its own";
    EXPECT_EQ(holder->used(), 250U);
  }
  MemoryBudget::Lease moved = std::move(lease);
  EXPECT_EQ(holder->used(), 30U);
  moved = {};
  EXPECT_EQ(holder->used(), 0U);
  EXPECT_EQ(budget.used(), 0U);
}

TEST(MemoryBudgetTest, ForgetsHoldersThatHaveNothing) {
  MemoryBudget budget(100, 20);
  const MemoryBudget::HolderPtr kept = budget.holder("kept");
  for (int name = 0; name < 1000; ++name) budget.holder(std::to_string(name));
  EXPECT_EQ(budget.holder("kept"), kept);
  EXPECT_LT(budget.remembered(), 100U);
  EXPECT_EQ(MemoryBudget(100).holder("a"), nullptr) << "nothing is kept back for anyone";
}

TEST(MemoryAccountTest, IsFoundByTheThreadThatWorks) {
  EXPECT_EQ(MemoryAccount::current(), nullptr);
  MemoryBudget budget(100);
  MemoryAccount outer(&budget);
  {
    const MemoryAccount::Scope scope(outer);
    EXPECT_EQ(MemoryAccount::current(), &outer);
    MemoryAccount inner(&budget);
    {
      const MemoryAccount::Scope nested(inner);
      EXPECT_EQ(MemoryAccount::current(), &inner);
    }
    EXPECT_EQ(MemoryAccount::current(), &outer);
  }
  EXPECT_EQ(MemoryAccount::current(), nullptr);
}

TEST(MemoryChargeTest, IsGivenBackOnceHoweverItMoves) {
  MemoryBudget budget(100);
  MemoryAccount account(&budget);
  const MemoryAccount::Scope scope(account);
  MemoryCharge kept;
  {
    MemoryCharge charge;
    ASSERT_TRUE(charge.resize(70));
    ASSERT_TRUE(charge.resize(30));
    EXPECT_EQ(charge.resize(101).error().code, ErrorCode::kTooMany);
    EXPECT_EQ(charge.bytes(), 30U);
    kept = std::move(charge);
  }
  EXPECT_EQ(budget.used(), 30U);
  const MemoryCharge moved = std::move(kept);
  EXPECT_EQ(budget.used(), 30U);
}

TEST(MemoryChargeTest, WithoutAnAccountNothingIsCounted) {
  MemoryCharge charge;
  EXPECT_TRUE(charge.resize(UINT64_MAX));
  EXPECT_EQ(charge.bytes(), 0U);
}

}  // namespace
}  // namespace vesta
