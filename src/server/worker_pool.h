// Threads that run handlers, so that the threads of the transports never block. Three lanes that
// do not wait for each other: heavy queries leave ingest alone, and health checks are answered
// whatever else is going on. Thread-safe.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "server/api.h"

namespace vesta::server {

class WorkerPool {
 public:
  struct Options {
    size_t read_threads = 8;
    // Writers mostly wait for the disk, and those that wait together share one sync.
    size_t write_threads = 16;
    size_t max_queued = 1024;  // of each lane
  };
  explicit WorkerPool(const Options& options);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False when the lane of that scope has too much waiting, or after stop().
  bool post(Scope scope, std::function<void()> task);
  size_t queued() const;
  size_t running() const;
  // Runs what is waiting, then ends the threads.
  void stop();

 private:
  struct Lane {
    mutable std::mutex lock;
    std::condition_variable wake;
    std::deque<std::function<void()>> tasks;  // guarded by lock, as the rest
    size_t running = 0;
    bool stopping = false;
    std::vector<std::thread> threads;  // touched by the owner alone
  };
  static void run(Lane& lane);

  size_t max_queued_;
  std::array<Lane, 3> lanes_;
};

}  // namespace vesta::server
