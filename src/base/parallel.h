// Work on many independent things by a few threads, for answers that somebody waits for. The
// caller's thread works, too; nothing outlives the call.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"

namespace vesta {

// Threads that pay off for so many things of a few milliseconds each: one below `least_each`.
inline size_t threads_for(size_t things, size_t least_each = 4) {
  constexpr size_t kMost = 4;
  const size_t cores = std::max(1U, std::thread::hardware_concurrency());
  return std::clamp<size_t>(things / least_each, 1, std::min(cores, kMost));
}

// work(thread, index) -> Status for every index, in no order; the first error ends it. Two calls
// with the same `thread` never run at once, so that each can have its own scratch space.
template <class Work>
Status for_each_in_parallel(size_t count, size_t threads, const Work& work) {
  std::atomic<size_t> next{0};
  Mutex mutex;
  Status problem;
  const auto run = [&](size_t thread) {
    for (size_t index = next++; index < count; index = next++) {
      Status done = work(thread, index);
      if (done.ok()) continue;
      next = count;
      const MutexLock lock(mutex);
      if (problem.ok()) problem = std::move(done);
    }
  };
  {
    std::vector<std::jthread> others;
    for (size_t i = 1; i < threads; ++i) others.emplace_back([&run, i] { run(i); });
    run(0);
  }
  return problem;
}

}  // namespace vesta
