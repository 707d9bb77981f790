// Random sequences of what can be done to an engine, from a seed. An operation does not depend on
// what the ones before it answered, so that any of them can be left out when looking for the
// shortest sequence that fails. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/testing/stored_profiles.h"

namespace vesta::test {

enum class OperationKind {
  kWrite,
  kRemove,
  kSetRetention,
  kApplyRetention,
  kMaintain,
  kFlush,
  kReopen,
  kSelect,
  kSelectOne,  // by the id of a profile
  kTotals,
  kPoints,
  kSamples,
  kSeries,
  kLabelNames,
  kLabelValues,
};

struct Operation {
  OperationKind kind = OperationKind::kMaintain;
  std::string tenant;
  std::vector<ProfileSpec> profiles;  // kWrite
  bool durable = true;
  int64_t now_ns = 0;         // kWrite, kApplyRetention
  RetentionPolicy retention;  // kSetRetention

  std::string type;
  std::string selector = "{}";
  TimeRange range = kAllTime;
  std::vector<std::string> group_by;
  std::string sample_selector = "{}";
  std::vector<Link> links;  // whose trace or span is asked for
  bool by_trace = false;
  bool by_span = false;  // kPoints too
  std::optional<TimeRange> sample_times;
  std::optional<ValueRange> totals;
  std::optional<RateRange> rates;
  bool overlapping = false;  // kPoints
  int64_t step_ns = 0;
  bool by_start = false;
  bool keep_labels = true;
  bool keep_links = true;
  bool keep_times = false;
  std::string label;  // kLabelValues
  std::string prefix;
  uint64_t choice = 0;  // kSelectOne
};

// `clock_ns` is the time at which the test started. All writes are of long ago and far from what
// retention would drop at that time; operations that drop something bring a clock of their own.
std::vector<Operation> random_operations(uint64_t seed, size_t count, int64_t clock_ns);

// One line, for a person who looks for the cause.
std::string describe(const Operation& operation);

}  // namespace vesta::test
