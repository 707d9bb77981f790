// Builds roll-ups: hours that are over, then days, then again what was written to since. One run at
// a time; README.md has the state machine.
#pragma once

#include "base/mutex.h"
#include "store/rocksdb/store.h"

namespace vesta::rocks {

class RollupBuilder {
 public:
  explicit RollupBuilder(Store& store) : store_(store) {}

  // Does all that is due. What is written meanwhile may be left to the next run. Ends early, and
  // all right, once `stop` says so.
  Status run(const std::function<bool()>& stop);
  // Hours and marks that wait.
  uint64_t pending();

 private:
  Status run_tenant(Tenant& tenant, const std::function<bool()>& stop);
  Status roll_hours(Tenant& tenant, const std::function<bool()>& stop);
  Status roll_days(Tenant& tenant, const std::function<bool()>& stop);
  Status roll_marked(Tenant& tenant, const std::function<bool()>& stop);
  Hour closed_hour() const;

  Store& store_;
  Mutex mutex_;
};

}  // namespace vesta::rocks
