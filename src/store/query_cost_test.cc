#include "store/query_cost.h"

#include <gtest/gtest.h>

namespace vesta {
namespace {

TEST(QueryCostTest, OneQueryHasABoundOfItsOwn) {
  QueryCost cost(QueryBudget{.bytes = 100});
  EXPECT_TRUE(cost.add(100));
  EXPECT_EQ(cost.add(1).error().code, ErrorCode::kLimit);
}

TEST(QueryCostTest, AllQueriesShareABudget) {
  MemoryBudget budget(150);
  MemoryAccount first(&budget);
  MemoryAccount second(&budget);
  const auto ask = [](MemoryAccount& account) {
    const MemoryAccount::Scope scope(account);
    return QueryCost(QueryBudget{.bytes = 100}).add(100);
  };
  EXPECT_TRUE(ask(first));
  // The query is over, but its answer is still there.
  EXPECT_EQ(ask(second).error().code, ErrorCode::kTooMany);
  first.give(first.bytes());
  EXPECT_TRUE(ask(second));
}

}  // namespace
}  // namespace vesta
