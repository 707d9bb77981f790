// How many times somebody looked: the number of independent samples behind a weight, which decides
// how much of a difference can be chance. Pure function.
#pragma once

#include <cstdint>
#include <string>
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

// Below this many, shares are too uncertain to be taken at their word: 12 samples of 20 are 60 %,
// give or take 22.
inline constexpr uint64_t kFewSamples = 100;
// "rests on 12 samples; shares are uncertain below 100"
std::string few_samples_text(uint64_t samples);

}  // namespace vesta
