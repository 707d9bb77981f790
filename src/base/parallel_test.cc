#include "base/parallel.h"

#include <gtest/gtest.h>

namespace vesta {
namespace {

TEST(Parallel, DoesEachOnce) {
  for (const size_t threads : {1U, 2U, 4U}) {
    std::vector<std::atomic<int>> done(1000);
    const Status status = for_each_in_parallel(done.size(), threads, [&](size_t, size_t index) {
      ++done[index];
      return Status();
    });
    EXPECT_TRUE(status.ok());
    for (const std::atomic<int>& count : done) EXPECT_EQ(count, 1);
  }
}

TEST(Parallel, ThreadsDoNotShareTheirNumber) {
  std::vector<std::atomic<int>> inside(4);
  const Status status = for_each_in_parallel(500, inside.size(), [&](size_t thread, size_t) {
    EXPECT_EQ(inside[thread]++, 0);
    std::this_thread::yield();
    --inside[thread];
    return Status();
  });
  EXPECT_TRUE(status.ok());
}

TEST(Parallel, EndsWithTheFirstError) {
  std::atomic<size_t> calls{0};
  const Status status = for_each_in_parallel(100'000, 2, [&](size_t, size_t) -> Status {
    ++calls;
    return Error{ErrorCode::kIo, "broken", ""};
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "broken");
  EXPECT_LE(calls, 4U);
}

TEST(Parallel, FewThingsAreDoneByTheCaller) {
  EXPECT_EQ(threads_for(0), 1U);
  EXPECT_EQ(threads_for(7), 1U);
  const auto here = std::this_thread::get_id();
  const Status status = for_each_in_parallel(3, 1, [&](size_t, size_t) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    return Status();
  });
  EXPECT_TRUE(status.ok());
}

}  // namespace
}  // namespace vesta
