#include "server/rpc/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>

namespace vesta::server {
namespace {

constexpr auto kPatience = std::chrono::seconds(30);

// Work that goes on until it is let go.
class Heavy {
 public:
  std::function<void()> task() {
    return [this] { gate_.wait(); };
  }
  void let_go() { go_.set_value(); }

 private:
  std::promise<void> go_;
  std::shared_future<void> gate_ = go_.get_future().share();
};

TEST(WorkerPool, HeavyTenantsLeaveAThreadForOthers) {
  for (const Scope scope : {Scope::kRead, Scope::kWrite}) {
    Heavy heavy;
    std::promise<void> ran;
    WorkerPool pool({});  // ends before what its tasks use
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(pool.post(scope, "greedy", heavy.task()));
    ASSERT_TRUE(pool.post(scope, "modest", [&] { ran.set_value(); }));
    EXPECT_EQ(ran.get_future().wait_for(kPatience), std::future_status::ready);
    heavy.let_go();
  }
}

TEST(WorkerPool, ReadsAndWritesDoNotWaitForEachOther) {
  Heavy heavy;
  std::promise<void> wrote;
  WorkerPool pool({});
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(pool.post(Scope::kRead, "a", heavy.task()));
  ASSERT_TRUE(pool.post(Scope::kWrite, "a", [&] { wrote.set_value(); }));
  EXPECT_EQ(wrote.get_future().wait_for(kPatience), std::future_status::ready);
  heavy.let_go();
}

TEST(WorkerPool, RunsAllThatWaitsBeforeItStops) {
  std::atomic<int> ran = 0;
  {
    WorkerPool pool({.read_threads = 3, .reserved_reads = 1});
    for (int i = 0; i < 300; ++i)
      ASSERT_TRUE(pool.post(Scope::kRead, i % 3 == 0 ? "a" : "b", [&] { ++ran; }));
    pool.stop();
    EXPECT_EQ(pool.queued(), 0U);
    EXPECT_EQ(pool.running(), 0U);
    EXPECT_FALSE(pool.post(Scope::kRead, "a", [] {}));
  }
  EXPECT_EQ(ran, 300);
}

TEST(WorkerPool, AFullQueueOfOneTenantIsNotAnothers) {
  Heavy heavy;
  WorkerPool pool({.read_threads = 1, .reserved_reads = 0, .max_queued = 2});
  while (pool.post(Scope::kRead, "greedy", heavy.task())) continue;
  EXPECT_TRUE(pool.post(Scope::kRead, "modest", [] {}));
  heavy.let_go();
}

}  // namespace
}  // namespace vesta::server
