#include "server/rpc/worker_pool.h"

#include <algorithm>

#include "base/mutex.h"

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

// All tenants together may have so many times the queue of one.
constexpr size_t kFullQueues = 16;

FairQueue::Options lane_options(size_t threads, size_t reserved,
                                const WorkerPool::Options& options) {
  return {.threads = threads,
          .reserved = reserved,
          .max_queued_of_tenant = options.max_queued,
          .max_queued = options.max_queued * kFullQueues};
}

}  // namespace

WorkerPool::WorkerPool(const Options& options)
    : lanes_{Lane(lane_options(1, 0, options)),
             Lane(lane_options(options.read_threads, options.reserved_reads, options)),
             Lane(lane_options(options.write_threads, options.reserved_writes, options))} {
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

bool WorkerPool::post(Scope scope, std::string_view tenant, std::function<void()> task) {
  Lane& lane = lanes_[lane_of(scope)];
  {
    const MutexLock guard(lane.lock);
    if (lane.stopping || !lane.queue.push(tenant, std::move(task))) return false;
  }
  lane.wake.notify_one();
  return true;
}

size_t WorkerPool::queued() const {
  size_t count = 0;
  for (const Lane& lane : lanes_) {
    const MutexLock guard(lane.lock);
    count += lane.queue.queued();
  }
  return count;
}

size_t WorkerPool::running() const {
  size_t count = 0;
  for (const Lane& lane : lanes_) {
    const MutexLock guard(lane.lock);
    count += lane.queue.running();
  }
  return count;
}

void WorkerPool::stop() {
  for (Lane& lane : lanes_) {
    {
      const MutexLock guard(lane.lock);
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
  MutexLock guard(lane.lock);
  while (true) {
    std::optional<FairQueue::Turn> turn;
    lane.wake.wait(guard, [&]() REQUIRES(lane.lock) {
      turn = lane.queue.take();
      return turn.has_value() || (lane.stopping && lane.queue.queued() == 0);
    });
    if (!turn) return;
    guard.unlock();
    turn->task();
    turn->task = nullptr;  // what it holds is let go outside the lock
    guard.lock();
    lane.queue.done(turn->tenant);
    // A task that had to wait for this one may go to any thread; at the end, all must look.
    if (lane.stopping) {
      lane.wake.notify_all();
    } else if (lane.queue.queued() > 0) {
      lane.wake.notify_one();
    }
  }
}

}  // namespace vesta::server
