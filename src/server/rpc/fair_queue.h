// Whose work is next: tasks of many tenants for a fixed number of threads, so that one who asks for
// much does not keep another waiting. The tenant that has the least running is next, and of several
// the one that was served longest ago. A task that runs cannot be taken back, so the last threads
// are kept for tenants that have nothing running. Only decides; has no threads, no clock and no
// lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace vesta::server {

class FairQueue {
 public:
  using Task = std::function<void()>;
  struct Options {
    size_t threads = 1;
    // Of them, for tenants that have nothing running; fewer when there are no more threads.
    size_t reserved = 0;
    size_t max_queued_of_tenant = 1024;
    size_t max_queued = 16 * 1024;
  };
  explicit FairQueue(const Options& options);

  // False when the tenant, or all of them, have too much waiting.
  bool push(std::string_view tenant, Task task);

  struct Turn {
    std::string tenant;
    Task task;
  };
  // The next to run, which counts as running until done(); none when nobody may start now.
  std::optional<Turn> take();
  void done(const std::string& tenant);

  size_t queued() const { return queued_; }
  size_t running() const { return running_; }

 private:
  using Rank = std::pair<size_t, uint64_t>;  // running, and when it was served last
  struct Tenant {
    std::deque<Task> tasks;
    size_t running = 0;
    uint64_t served = 0;
    Rank rank() const { return {running, served}; }
  };
  using Entry = std::map<std::string, Tenant, std::less<>>::iterator;
  struct ByRank {
    bool operator()(const Entry& a, const Entry& b) const {
      const Rank left = a->second.rank();
      const Rank right = b->second.rank();
      return left != right ? left < right : a->first < b->first;
    }
  };

  size_t threads_;
  size_t shared_;  // threads that a tenant may have beside its first
  size_t max_queued_of_tenant_;
  size_t max_queued_;
  size_t queued_ = 0;
  size_t running_ = 0;
  uint64_t turns_ = 0;
  std::map<std::string, Tenant, std::less<>> tenants_;  // with something queued or running
  std::set<Entry, ByRank> waiting_;                     // with something queued
};

}  // namespace vesta::server
