// Profiles to store and answers to compare, as plain text and maps: what the tests of engines are
// written in. Pure functions; used by tests and benchmarks only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "store/engine.h"

namespace vesta::test {

inline constexpr int64_t kSecondNs = 1'000'000'000;
inline constexpr int64_t kMinuteNs = 60 * kSecondNs;
inline constexpr int64_t kHourNs = 60 * kMinuteNs;
inline constexpr int64_t kDayNs = 24 * kHourNs;
// 2024-01-31 00:00 UTC: a day later a month ends. Long past, so that all work on it is due.
inline constexpr int64_t kStartNs = 1'706'659'200 * kSecondNs;

inline constexpr std::string_view kCpuType = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";
inline constexpr std::string_view kHeapType = "memory:inuse_space:bytes:space:bytes";

struct SampleSpec {
  // Root first: "main;work;leaf". A frame may have a file and a line: "work@a.cc:12".
  std::string stack;
  int64_t value = 0;
  std::map<std::string, std::string> labels = {};
  std::map<std::string, int64_t> numbers = {};  // labels with a number, in bytes
  Link link = {};
  int64_t time_ns = 0;
};

struct ProfileSpec {
  std::string type{kCpuType};
  std::map<std::string, std::string> labels = {};
  int64_t time_ns = kStartNs;
  int64_t duration_ns = 10 * kSecondNs;
  int64_t period = 10'000'000;
  std::vector<SampleSpec> samples = {};
  std::map<std::string, uint64_t> losses = {};
  PieceOrigin piece_of = 0;
};

// One profile for each, all with the same dictionary.
ProfileBatch batch_of(const std::vector<ProfileSpec>& specs);
// What they are pieces of.
WriteOptions write_options_of(const std::vector<ProfileSpec>& specs);

// REQUIRES: the id is one
ProfileType type_of(std::string_view id);
// REQUIRES: the text is a selector
Selector selector_of(std::string_view text);

// "{a="b", c="d"}", without empty ones.
std::string text_of(const Labels& labels);
// The same without the labels that the store made, but for the service.
std::string own_labels(const Labels& labels);

// Root first, names as shown.
std::string stack_text(const StackTree& tree, StackNumber stack);

// Weights by "service|stack"; none that are 0.
std::map<std::string, int64_t> weights_of(const Selection& selection);
// The same, for frames with all that is kept of them.
std::map<std::string, int64_t> exact_weights_of(const Selection& selection);
// Everything but the weights, one line.
std::string header_of(const Selection& selection);

std::string text_of(const TotalsSeries& series);
// Without the profile's id, which each engine chooses.
std::string text_of(const ProfilePoint& point);
// A line for each profile and each sample, sorted: equal texts mean equal batches.
std::vector<std::string> lines_of(const ProfileBatch& batch);

}  // namespace vesta::test
