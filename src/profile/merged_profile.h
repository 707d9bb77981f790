// One type of a batch, as weights of stacks: what reports of files start from (profiles in a store
// are a Selection instead, store/selection.h). Everything after it is a pure function. Shares the
// dictionary, which is never changed afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"

namespace vesta {

struct WeightedStack {
  StackId stack;
  LabelSetId labels;
  LabelSetId resource;
  LinkId link;
  int64_t value = 0;
};

struct LossCount {
  std::string reason;
  uint64_t count = 0;
};

struct MergedProfile {
  std::shared_ptr<const Dictionary> dictionary;
  std::string type;  // "cpu"
  std::string unit;  // "nanoseconds"
  Temporality temporality = Temporality::kCumulative;
  std::string period_type;
  std::string period_unit;
  int64_t period = 0;
  int64_t time_ns = 0;
  int64_t duration_ns = 0;
  std::string drop_frames;
  std::string keep_frames;
  std::string main_binary;  // path of the first mapping, as pprof's header has it
  std::vector<WeightedStack> samples;
  std::vector<LossCount> losses;
};

// A type that a batch holds, perhaps in several profiles.
struct TypeInfo {
  std::string name;  // of the profile family; may be empty
  std::string type;
  std::string unit;
  std::string period_type;
  std::string period_unit;
  int64_t total = 0;
  bool is_default = false;

  // "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
  std::string id() const;
};

// In order of appearance, each once.
std::vector<TypeInfo> list_types(const ProfileBatch& batch);

// The type that a person means: a type name ("alloc_space"), "type:unit", a five-part id, a family
// ("wall"), its place in the list as a number from 0, or one of the short names cpu, off-cpu, wall,
// alloc, inuse, mutex, block, goroutine. An empty word means the default. The error lists what
// there is.
Result<TypeInfo> find_type(const std::vector<TypeInfo>& types, std::string_view word);

// The samples of that type from all profiles of the batch that have it.
MergedProfile select_type(const std::shared_ptr<const ProfileBatch>& batch, const TypeInfo& wanted);

// Sum of absolute values, as pprof has it, so that a difference of profiles does not add up to
// nothing. Samples that are labelled as the base of a difference, if there are any, are the total.
int64_t total_of(const MergedProfile& profile);

}  // namespace vesta
