// Which profile types have held anything but zeros. Clients list types for people to choose from;
// a runtime that sends a type which it never fills (.NET sends six of them) would crowd that list.
// Remembers the types that have values, so that the store is asked once for most. Thread-safe.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutex.h"
#include "store/engine.h"

namespace vesta::server {

class ValuedTypes {
 public:
  // Whether a profile of the range, give or take an hour on both sides, has a value other than 0,
  // or whether one had when it was last asked. A type is listed when the store cannot tell within
  // the budget.
  bool has_values(Engine& engine, std::string_view tenant, const ProfileType& type, TimeRange range,
                  const QueryBudget& budget);

 private:
  using Key = std::pair<std::string, std::string>;  // tenant, id of the type
  Mutex mutex_;
  std::set<Key> known_ GUARDED_BY(mutex_);
};

}  // namespace vesta::server
