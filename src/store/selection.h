// The answer of an engine: weights of stacks by service, over trees that the engine has in memory.
// Reports of stored profiles are pure functions of it. Owns its weights, shares the trees.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/merged_profile.h"
#include "store/covered_time.h"
#include "store/selector.h"
#include "store/stack_tree.h"

namespace vesta {

// "process_cpu:cpu:nanoseconds:cpu:nanoseconds", taken apart. No part may hold a colon.
struct ProfileType {
  std::string name;
  std::string sample_type;
  std::string sample_unit;
  std::string period_type;
  std::string period_unit;

  // kUsage unless there are five parts; a sixth, ":delta", is let pass.
  static Result<ProfileType> parse(std::string_view id);
  std::string id() const;
  Temporality temporality() const { return temporality_of(sample_type); }
  friend auto operator<=>(const ProfileType&, const ProfileType&) = default;
};

struct ServiceStacks {
  std::string service;
  StackTree tree;
  std::vector<int64_t> weights;  // by stack number; shorter than tree.stack_count() = rest is 0
};

struct Selection {
  ProfileType type;
  Labels group;                         // the values of the labels grouped by
  std::vector<ServiceStacks> services;  // by name; none without weight
  int64_t total = 0;
  uint64_t profiles = 0;  // stored profiles that were added up
  int64_t period = 0;     // the largest of them
  int64_t first_ns = 0;   // of the earliest profile, or of what is meant of it
  int64_t last_ns = 0;    // of the latest
  CoveredTime covered;    // sum over all profiles, each once
  std::vector<LossCount> losses;
};

}  // namespace vesta
