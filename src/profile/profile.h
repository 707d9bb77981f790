// The narrow waist of Vesta: collectors and readers make a ProfileBatch, engines store it, writers
// and reports read it. Plain data owned by value, free to copy and move between threads, not safe
// to write from two.
//
// A batch is one dictionary and the profiles that share it. A profile is what one source measured
// over one stretch of time: a row per sample, with one value per sample type. Files such as pprof
// hold one profile; OTLP and JFR hold several.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/dictionary.h"

namespace vesta {

// How values of a type behave over time: CPU time adds up, a heap size does not. Gauges are
// averaged over time and summed over instances, never summed over time.
enum class Temporality : uint8_t { kCumulative, kInstant };

struct SampleType {
  StringId type;  // "cpu"
  StringId unit;  // "nanoseconds"
  Temporality temporality = Temporality::kCumulative;
  friend bool operator==(const SampleType&, const SampleType&) = default;
};

// What the type's usual name says: in-use heap, goroutines and live objects are gauges.
Temporality temporality_of(std::string_view type);

// Events that are missing or damaged, counted by reason: loss is data.
struct Loss {
  StringId reason;  // "ring full", "stack truncated", "invalid UTF-8 replaced"
  uint64_t count = 0;
  friend bool operator==(const Loss&, const Loss&) = default;
};

// Samples as columns. Optional columns are empty, or as long as `stacks`.
struct Samples {
  std::vector<StackId> stacks;
  std::vector<LabelSetId> labels;  // optional
  std::vector<LinkId> links;       // optional
  std::vector<int64_t> times_ns;   // optional, Unix time of each event; 0 = not known
  std::vector<int64_t> values;     // row after row, one value per sample type

  size_t size() const { return stacks.size(); }
  LabelSetId label_set(size_t row) const { return labels.empty() ? LabelSetId() : labels[row]; }
  LinkId link(size_t row) const { return links.empty() ? LinkId() : links[row]; }
  int64_t time_ns(size_t row) const { return times_ns.empty() ? 0 : times_ns[row]; }
};

struct Profile {
  StringId name;        // family, as in "process_cpu" of a five-part type id; may be empty
  LabelSetId resource;  // who was profiled: service, host, process; may be empty
  std::vector<SampleType> sample_types;
  SampleType period_type;
  int64_t period = 0;
  int64_t time_ns = 0;  // Unix time of the start
  int64_t duration_ns = 0;
  uint32_t default_type = 0;  // index into sample_types of what to show first
  std::vector<StringId> comments;
  StringId doc_url;
  StringId drop_frames;  // pprof: regular expressions for frames of the profiler itself
  StringId keep_frames;
  std::vector<Loss> losses;
  Samples samples;

  std::span<const int64_t> values(size_t row) const {
    return {samples.values.data() + row * sample_types.size(), sample_types.size()};
  }
  int64_t value(size_t row, size_t type) const {
    return samples.values[row * sample_types.size() + type];
  }

  // Appends a row; optional columns come into being with the first value that needs them.
  // REQUIRES: row_values.size() == sample_types.size()
  void add_sample(StackId stack, std::span<const int64_t> row_values, LabelSetId labels = {},
                  LinkId link = {}, int64_t event_time_ns = 0);
  // REQUIRES: `reason` belongs to the same dictionary
  void add_loss(StringId reason, uint64_t count);
};

struct ProfileBatch {
  Dictionary dictionary;
  std::vector<Profile> profiles;
};

// Sum of one value column; saturates instead of overflowing.
int64_t total_of(const Profile& profile, size_t type);

// Adds without wrapping around: hostile values must not turn a large total into a negative one.
inline int64_t saturating_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}
inline int64_t saturating_subtract(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}
// The absolute value, where that of the smallest number is the largest.
inline int64_t saturating_abs(int64_t value) {
  return value < 0 ? saturating_subtract(0, value) : value;
}

// Checks what readers must guarantee: ids in range, columns of equal length, lines for each
// location. The text says what is wrong; empty when all is well. Used by tests and fuzzers.
std::string find_inconsistency(const ProfileBatch& batch);

}  // namespace vesta
