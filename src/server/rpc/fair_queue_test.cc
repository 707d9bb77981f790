#include "server/rpc/fair_queue.h"

#include <gtest/gtest.h>

namespace vesta::server {
namespace {

class FairQueueTest : public testing::Test {
 protected:
  void push(FairQueue& queue, const std::string& tenant, size_t count = 1) {
    for (size_t i = 0; i < count; ++i) ASSERT_TRUE(queue.push(tenant, [] {}));
  }
  // Whose tasks start now, one letter each.
  static std::string started(FairQueue& queue) {
    std::string out;
    while (auto turn = queue.take()) out += turn->tenant;
    return out;
  }
};

TEST_F(FairQueueTest, ServesTenantsInTurn) {
  FairQueue queue({.threads = 1});
  push(queue, "a", 4);
  push(queue, "b", 2);
  push(queue, "c");
  std::string order;
  while (auto turn = queue.take()) {
    order += turn->tenant;
    queue.done(turn->tenant);
  }
  EXPECT_EQ(order, "abcabaa");
  EXPECT_EQ(queue.queued(), 0U);
  EXPECT_EQ(queue.running(), 0U);
}

TEST_F(FairQueueTest, KeepsTheOrderOfOneTenant) {
  FairQueue queue({.threads = 1});
  std::string order;
  for (const char c : {'1', '2', '3'}) ASSERT_TRUE(queue.push("a", [&order, c] { order += c; }));
  while (auto turn = queue.take()) {
    turn->task();
    queue.done(turn->tenant);
  }
  EXPECT_EQ(order, "123");
}

TEST_F(FairQueueTest, WhoHasNothingRunningFindsAThread) {
  FairQueue queue({.threads = 8, .reserved = 2});
  push(queue, "a", 100);
  EXPECT_EQ(started(queue), "aaaaaa") << "two threads are kept";
  push(queue, "b", 5);
  EXPECT_EQ(started(queue), "b") << "at once, though nothing of a has ended";
  push(queue, "c", 5);
  EXPECT_EQ(started(queue), "c");
  push(queue, "d");
  EXPECT_EQ(started(queue), "") << "all threads run";
  queue.done("a");
  EXPECT_EQ(started(queue), "d") << "before a second of b and before a seventh of a";
}

TEST_F(FairQueueTest, WhoHasTheLeastRunningIsNext) {
  FairQueue queue({.threads = 6});
  push(queue, "a", 100);
  EXPECT_EQ(started(queue), "aaaaaa");
  push(queue, "b", 100);
  for (int i = 0; i < 3; ++i) {
    queue.done("a");
    EXPECT_EQ(started(queue), "b");
  }
  // Three each: from now on who ends one starts one.
  queue.done("a");
  EXPECT_EQ(started(queue), "a");
  queue.done("b");
  EXPECT_EQ(started(queue), "b");
}

TEST_F(FairQueueTest, OneThreadServesEverybody) {
  FairQueue queue({.threads = 1, .reserved = 4});
  push(queue, "a", 2);
  EXPECT_EQ(started(queue), "a");
  queue.done("a");
  EXPECT_EQ(started(queue), "a");
}

TEST_F(FairQueueTest, AFullQueueOfOneTenantRefusesThatTenantAlone) {
  FairQueue queue({.threads = 1, .max_queued_of_tenant = 2, .max_queued = 4});
  push(queue, "a", 2);
  EXPECT_FALSE(queue.push("a", [] {}));
  push(queue, "b", 2);
  EXPECT_FALSE(queue.push("c", [] {})) << "all of it is bounded, too";
  EXPECT_EQ(queue.queued(), 4U);
  EXPECT_EQ(started(queue), "a");
  push(queue, "c");
}

}  // namespace
}  // namespace vesta::server
