// What MemoryEngine keeps: tenants, their series and trees, and profiles as they were written.
// Plain data, guarded by the engine's mutex.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "store/engine.h"
#include "store/stack_tree_writer.h"

namespace vesta::memory {

struct SampleLabel {
  std::string key;
  LabelKind kind = LabelKind::kString;
  std::string text;
  std::string unit;
  int64_t number = 0;
  friend auto operator<=>(const SampleLabel&, const SampleLabel&) = default;
};
using SampleLabels = std::vector<SampleLabel>;  // sorted

// What tells two samples of a profile apart.
struct SampleKey {
  StackNumber stack = 0;
  SampleLabels labels;
  Link link;
  int64_t time_ns = 0;
  friend auto operator<=>(const SampleKey&, const SampleKey&) = default;
};

struct StoredProfile {
  int64_t time_ns = 0;
  int64_t duration_ns = 0;
  int64_t period = 0;
  std::map<std::string, uint64_t> losses;
  std::map<SampleKey, int64_t> samples;  // no zeros
  int64_t total = 0;
};

struct StoredSeries {
  ProfileType type;
  std::string service;
  // By start and id, which is a hash of the series and all of the profile.
  std::map<std::pair<int64_t, std::string>, StoredProfile> profiles;
};

struct Service {
  StackTree tree;
  StackTreeWriter writer{tree};
  StackNumbers numbers;
};

struct Tenant {
  std::map<Labels, StoredSeries> series;  // none without a profile
  std::map<std::string, std::unique_ptr<Service>> services;
  RetentionPolicy retention;
};

// Of one series, what a question is about.
struct ChosenSeries {
  const Labels* labels = nullptr;
  const StoredSeries* series = nullptr;
  std::vector<std::pair<const std::string*, const StoredProfile*>> profiles;  // id and profile
};

}  // namespace vesta::memory
