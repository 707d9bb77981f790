#include "server/rpc/fair_queue.h"

#include <algorithm>

namespace vesta::server {

FairQueue::FairQueue(const Options& options)
    : threads_(std::max<size_t>(1, options.threads)),
      shared_(threads_ - std::min(options.reserved, threads_ - 1)),
      max_queued_of_tenant_(options.max_queued_of_tenant),
      max_queued_(options.max_queued) {}

bool FairQueue::push(std::string_view tenant, Task task) {
  if (queued_ >= max_queued_) return false;
  auto at = tenants_.find(tenant);
  if (at == tenants_.end()) at = tenants_.try_emplace(std::string(tenant)).first;
  if (at->second.tasks.size() >= max_queued_of_tenant_) return false;
  at->second.tasks.push_back(std::move(task));
  ++queued_;
  waiting_.insert(at);
  return true;
}

std::optional<FairQueue::Turn> FairQueue::take() {
  if (waiting_.empty() || running_ >= threads_) return std::nullopt;
  const Entry at = *waiting_.begin();
  Tenant& tenant = at->second;
  // All others have as many running, or more.
  if (tenant.running > 0 && running_ >= shared_) return std::nullopt;
  waiting_.erase(waiting_.begin());
  Turn turn{at->first, std::move(tenant.tasks.front())};
  tenant.tasks.pop_front();
  --queued_;
  ++running_;
  ++tenant.running;
  tenant.served = ++turns_;
  if (!tenant.tasks.empty()) waiting_.insert(at);
  return turn;
}

void FairQueue::done(const std::string& tenant) {
  const Entry at = tenants_.find(tenant);
  const bool waits = !at->second.tasks.empty();
  if (waits) waiting_.erase(at);
  --at->second.running;
  --running_;
  if (waits) {
    waiting_.insert(at);
  } else if (at->second.running == 0) {
    tenants_.erase(at);
  }
}

}  // namespace vesta::server
