// What each service used of each type, over a range of time and over the equal one before it: the
// page that everything starts from. Asks the engine a few times per type, never per service.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/engine.h"

namespace vesta {

struct ServiceOverviewRequest {
  Selector selector;
  TimeRange range;
  size_t points = 60;       // at most so many steps
  size_t most_rows = 1000;  // of each type
  QueryBudget budget;
};

struct ServiceRow {
  std::string service;
  // Cumulative types: the sum. Instant ones: averages over time, added up over series.
  int64_t total = 0;
  std::optional<int64_t> previous_total;  // none when nothing is stored
  int64_t covered_ns = 0;                 // of the range: what some profile covers
  int64_t previous_covered_ns = 0;        // of the one before
  std::vector<int64_t> values;            // one for each step; 0 where there is nothing
  // Behind `total`; none: not known. A type that is a weight has them where the service's profiles
  // also count their samples.
  std::optional<uint64_t> samples;
  uint64_t profiles = 0;
  int64_t last_ns = 0;  // of the latest profile, which may be after the range
  uint64_t hosts = 0;
};

struct TypeOverview {
  ProfileType type;
  std::string word;              // selector_word()
  std::vector<ServiceRow> rows;  // largest first
};

struct ServiceOverview {
  int64_t step_ns = 0;
  TimeRange previous;
  std::vector<TypeOverview> types;  // in order of their ids
  uint64_t cut_rows = 0;
};

// kLimit when it would take more than the budget.
Result<ServiceOverview> service_overview(Engine& engine, std::string_view tenant,
                                         const ServiceOverviewRequest& request);

}  // namespace vesta
