// Threads that run handlers, so that the threads of the transports never block. Three lanes that
// do not wait for each other: heavy queries leave ingest alone, and health checks are answered
// whatever else is going on. Within a lane tenants take turns (fair_queue.h). Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "server/api.h"
#include "server/rpc/fair_queue.h"

namespace vesta::server {

class WorkerPool {
 public:
  struct Options {
    // Of each lane, a share is for tenants that have nothing running.
    size_t read_threads = 10;
    size_t reserved_reads = 2;
    // Writers mostly wait for the disk, and those that wait together share one sync.
    size_t write_threads = 20;
    size_t reserved_writes = 4;
    size_t max_queued = 1024;  // of each tenant in each lane
  };
  explicit WorkerPool(const Options& options);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // For a tenant; empty for the server's own work. False when the tenant has too much waiting in
  // the lane of that scope, or after stop().
  bool post(Scope scope, std::string_view tenant, std::function<void()> task);
  size_t queued() const;
  size_t running() const;
  // Runs what is waiting, then ends the threads.
  void stop();

 private:
  struct Lane {
    explicit Lane(const FairQueue::Options& options) : queue(options) {}
    mutable Mutex lock;
    CondVar wake;
    FairQueue queue GUARDED_BY(lock);
    bool stopping GUARDED_BY(lock) = false;
    std::vector<std::thread> threads;  // touched by the owner alone
  };
  static void run(Lane& lane);

  std::array<Lane, 3> lanes_;
};

}  // namespace vesta::server
