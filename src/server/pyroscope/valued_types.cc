#include "server/pyroscope/valued_types.h"

#include "base/mutex.h"
#include "base/time.h"
#include "profile/profile.h"

namespace vesta::server {
namespace {

// Tenants and types are chosen by clients.
constexpr size_t kMaxKnown = 10'000;

}  // namespace

bool ValuedTypes::has_values(Engine& engine, std::string_view tenant, const ProfileType& type,
                             TimeRange range, const QueryBudget& budget) {
  const Key key{tenant, type.id()};
  {
    const MutexLock lock(mutex_);
    if (known_.contains(key)) return true;
  }
  TotalsRequest request;
  request.type = type;
  request.range = {saturating_subtract(range.start_ns, kHour), saturating_add(range.end_ns, kHour)};
  request.step_ns = saturating_subtract(request.range.end_ns, request.range.start_ns);
  request.budget = budget;
  const auto totals = engine.totals(tenant, request);
  if (!totals) return true;
  for (const TotalsSeries& series : *totals) {
    for (const TotalsPoint& point : series.points) {
      if (point.sum == 0) continue;
      const MutexLock lock(mutex_);
      if (known_.size() >= kMaxKnown) known_.clear();
      known_.insert(key);
      return true;
    }
  }
  return false;
}

}  // namespace vesta::server
