// What MemoryEngine keeps: tenants, their series and trees, and profiles as they were written.
// Plain data, guarded by the engine's mutex.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
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

// The sets of labels that samples of a service have, numbered as they come. 0 is the empty one.
class LabelSets {
 public:
  LabelSets() { number({}); }

  uint32_t number(SampleLabels labels) {
    const auto [at, is_new] =
        numbers_.try_emplace(std::move(labels), static_cast<uint32_t>(sets_.size()));
    if (is_new) sets_.push_back(&at->first);
    return at->second;
  }
  size_t size() const { return sets_.size(); }
  const SampleLabels& operator[](uint32_t number) const { return *sets_[number]; }
  // By the labels themselves, with their numbers.
  const std::map<SampleLabels, uint32_t>& in_order() const { return numbers_; }

 private:
  std::map<SampleLabels, uint32_t> numbers_;
  std::vector<const SampleLabels*> sets_;  // keys of the map
};

// What tells two samples of a profile apart.
struct SampleKey {
  StackNumber stack;
  uint32_t labels = 0;  // of the service's sets
  Link link;
  int64_t time_ns = 0;
  friend auto operator<=>(const SampleKey&, const SampleKey&) = default;
};
struct StoredSample {
  SampleKey key;
  int64_t value = 0;
};
// They are hashed as bytes.
static_assert(std::has_unique_object_representations_v<StoredSample>);

struct StoredProfile {
  int64_t time_ns = 0;
  int64_t duration_ns = 0;
  int64_t period = 0;
  PieceOrigin origin = 0;
  std::map<std::string, uint64_t> losses;
  std::vector<StoredSample> samples;  // by key, each once; no zeros
  int64_t total = 0;
};

// Puts samples in order, adds alike ones up and leaves out what comes to 0.
void add_up_alike(std::vector<StoredSample>& samples);

struct StoredSeries {
  ProfileType type;
  std::string service;
  // By start and id, which is a hash of the series and all of the profile.
  std::map<std::pair<int64_t, std::string>, StoredProfile> profiles;
};

struct Service {
  LabelSets label_sets;
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
  const Service* service = nullptr;
  std::vector<std::pair<const std::string*, const StoredProfile*>> profiles;  // id and profile
};

}  // namespace vesta::memory
