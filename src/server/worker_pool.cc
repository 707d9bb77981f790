#include "server/worker_pool.h"

#include <algorithm>

namespace vesta::server {
namespace {

size_t lane_of(Scope scope) {
  switch (scope) {
    case Scope::kNone:
      return 0;
    case Scope::kWrite:
      return 2;
    case Scope::kRead:
    case Scope::kAdmin:
      return 1;
  }
  return 1;
}

}  // namespace

WorkerPool::WorkerPool(const Options& options) : max_queued_(options.max_queued) {
  const std::array<size_t, 3> threads = {1, std::max<size_t>(1, options.read_threads),
                                         std::max<size_t>(1, options.write_threads)};
  for (size_t i = 0; i < lanes_.size(); ++i) {
    for (size_t t = 0; t < threads[i]; ++t) {
      lanes_[i].threads.emplace_back([lane = &lanes_[i]] { run(*lane); });
    }
  }
}

WorkerPool::~WorkerPool() {
  stop();
}

bool WorkerPool::post(Scope scope, std::function<void()> task) {
  Lane& lane = lanes_[lane_of(scope)];
  {
    const std::lock_guard guard(lane.lock);
    if (lane.stopping || lane.tasks.size() >= max_queued_) return false;
    lane.tasks.push_back(std::move(task));
  }
  lane.wake.notify_one();
  return true;
}

size_t WorkerPool::queued() const {
  size_t count = 0;
  for (const Lane& lane : lanes_) {
    const std::lock_guard guard(lane.lock);
    count += lane.tasks.size();
  }
  return count;
}

size_t WorkerPool::running() const {
  size_t count = 0;
  for (const Lane& lane : lanes_) {
    const std::lock_guard guard(lane.lock);
    count += lane.running;
  }
  return count;
}

void WorkerPool::stop() {
  for (Lane& lane : lanes_) {
    {
      const std::lock_guard guard(lane.lock);
      lane.stopping = true;
    }
    lane.wake.notify_all();
  }
  for (Lane& lane : lanes_) {
    for (std::thread& thread : lane.threads) {
      if (thread.joinable()) thread.join();
    }
  }
}

void WorkerPool::run(Lane& lane) {
  std::unique_lock guard(lane.lock);
  while (true) {
    lane.wake.wait(guard, [&] { return lane.stopping || !lane.tasks.empty(); });
    if (lane.tasks.empty()) return;
    std::function<void()> task = std::move(lane.tasks.front());
    lane.tasks.pop_front();
    ++lane.running;
    guard.unlock();
    task();
    task = nullptr;  // what it holds is let go outside the lock
    guard.lock();
    --lane.running;
  }
}

}  // namespace vesta::server
