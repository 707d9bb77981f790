#include "profile/effective_samples.h"

#include <fmt/format.h>

namespace vesta {

uint64_t effective_samples(const SampledWeight& sampled) {
  if (sampled.weight <= 0) return 0;
  const auto weight = static_cast<uint64_t>(sampled.weight);
  if (sampled.sample_type == "samples" && sampled.sample_unit == "count") return weight;
  const bool is_clock = sampled.sample_unit == "nanoseconds" &&
                        sampled.sample_type == sampled.period_type &&
                        sampled.sample_unit == sampled.period_unit;
  if (!is_clock || sampled.period <= 0) return 0;
  const auto period = static_cast<uint64_t>(sampled.period);
  return weight / period + (weight % period >= period - period / 2 ? 1 : 0);
}

std::string few_samples_text(uint64_t samples) {
  return fmt::format("based on {} {}; shares are uncertain below {}", samples,
                     samples == 1 ? "sample" : "samples", kFewSamples);
}

}  // namespace vesta
