// How many times somebody looked: the number of independent samples behind a weight, which decides
// how much of a difference can be chance. Pure function.
#pragma once

#include <cstdint>
#include <string_view>

namespace vesta {

struct SampledWeight {
  std::string_view sample_type;  // "cpu"
  std::string_view sample_unit;  // "nanoseconds"
  std::string_view period_type;
  std::string_view period_unit;
  int64_t period = 0;  // 0 = not known
  int64_t weight = 0;
};

// weight / period where a clock ticked in the unit of the weight (CPU time, wall time), the weight
// itself where it is a count of samples. 0 = not known: events that are recorded with a weight of
// their own (allocations, waits) say nothing about their number.
uint64_t effective_samples(const SampledWeight& sampled);

}  // namespace vesta
