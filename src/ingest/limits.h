// How much one tenant may send. Plain data; 0 means no bound where a line says so.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace vesta {

struct TenantLimits {
  uint64_t max_body_bytes = uint64_t{64} << 20;      // of a request, as it comes
  uint64_t max_decoded_bytes = uint64_t{256} << 20;  // of a profile, unpacked
  size_t max_samples = 1'000'000;                    // of one request
  size_t max_stack_depth = 1024;                     // deeper stacks lose their root end, counted
  size_t max_string_bytes = 16 * 1024;  // of a name in a profile; longer ones are cut, counted
  size_t max_labels_per_sample = 128;
  size_t max_labels_per_series = 64;
  size_t max_label_name_bytes = 1024;
  size_t max_label_value_bytes = 2048;
  // Labels of samples make a series for each of their values up to here; beyond, they stay labels
  // of samples.
  size_t max_series_per_profile = 200;
  uint64_t max_series = 0;        // of the tenant; 0 = no bound
  uint64_t bytes_per_second = 0;  // unpacked; 0 = no bound
  uint64_t burst_bytes = 0;       // at once; 0 = what ten seconds bring
  // A profile may start so long ago, and so far ahead of our clock.
  int64_t max_age_ns = 366 * kDay;  // 0 = no bound
  int64_t max_ahead_ns = 10 * kMinute;
};

}  // namespace vesta
