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
