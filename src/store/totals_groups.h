// Puts totals over time together, group by group, from what each series has in each step: the part
// of Engine::totals that does not depend on how profiles are kept. One per query.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "store/engine.h"
#include "store/query_cost.h"
#include "store/time_cover.h"
#include "store/time_spread.h"

namespace vesta {

struct StepSum {
  uint64_t profiles = 0;
  int64_t sum = 0;
};
using StepSums = std::map<uint64_t, StepSum>;  // by number of the step

class TotalsGroups {
 public:
  TotalsGroups(const TotalsRequest& request, QueryCost& cost);

  // Of one series; nothing without steps. `cover` is what its profiles cover.
  Status add(const Labels& group, const StepSums& steps, const TimeCover& cover);
  std::vector<TotalsSeries> finish() const;

 private:
  struct Group {
    std::map<uint64_t, TotalsPoint> points;
    TimeCover cover;
  };
  const StepGrid grid_;
  const bool is_instant_;
  QueryCost& cost_;
  std::map<Labels, Group> groups_;
};

}  // namespace vesta
