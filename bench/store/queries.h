// The questions that people ask of a store, with what a page would make of the answer: totals of
// every node for a flame graph, or the largest functions. Thread-safe as the engine is.
#pragma once

#include <cstdint>
#include <string>

#include "store/engine.h"

namespace vesta::bench {

struct QueryScope {
  std::string tenant;
  int64_t start_ns = 0;  // of the data
  int64_t end_ns = 0;
};

// `series-1h`, `half-24h` (of the pods of a service), `service-24h`, `service-all`,
// `fleet-top50-24h`, `totals-24h`, `overview-24h`, `values`. All ranges end where the data does,
// give or take a minute, so that they are aligned to nothing. Returns the total of the answer.
Result<double> run_query(Engine& engine, const std::string& name, const QueryScope& scope);

}  // namespace vesta::bench
